import { withBufferedRandomness } from "@lethe/core/randomness";
import { clientsFor } from "../pke/counter.ts";
import { encryptionFrom } from "../pke/encryption.ts";
import { createLetheCounter, type LetheCounterOptions } from "../pke/lethe-counter.ts";
import { bitsOf } from "../pke/message-bits.ts";
import { createRunningCount } from "../pke/running-count.ts";
import { smallSpaceEncryptionFrom } from "../pke/small-space-encryption.ts";
import { type Distance, distanceInLongWindow, type Price, priceOfRunningCount } from "../pke/small-space-price.ts";
import { type ErrorsByClients, errorsWith, type Transmission, transmit } from "../pke/transmission.ts";
import { renderSvg } from "../plot/index.ts";
import type { Experiment, Finding, Surroundings } from "./experiment.ts";
import { describePke, pkePlot, pkeTables } from "./pke-from-pan-privacy-finding.ts";

export interface PkeSize {
  /** Lethe's counters, and what is sent with each. The first is the one whose errors are counted. */
  readonly lethe: readonly [LetheMessage, ...LetheMessage[]];
  readonly byClients: ClientNumbers;
  /** The counter without cryptography. */
  readonly smallSpace: {
    readonly message: string;
    readonly epsilon: number;
    readonly ticks: number;
    readonly byClients: ClientNumbers;
    /** Powers of two, for which its price is worked out. */
    readonly byTicks: readonly number[];
  };
}

export interface LetheMessage {
  readonly counter: LetheCounterOptions;
  readonly message: string;
}

/** With how many clients bits are encrypted, and how many are simulated in all for each of these. */
export interface ClientNumbers {
  readonly clients: readonly number[];
  readonly inAll: number;
}

const DEFAULT_SIZE: PkeSize = {
  lethe: [
    { counter: { scheme: "lattice", ticks: 3, localEpsilon: 2 }, message: "Forget me." },
    { counter: { scheme: "elgamal", ticks: 2, localEpsilon: 6 }, message: "Hi" },
  ],
  byClients: { clients: [1, 3, 5, 9], inAll: 600 },
  smallSpace: {
    message: "Forget me.",
    epsilon: 0.9,
    ticks: 16,
    byClients: { clients: [1, 11, 101, 301, 601], inAll: 60_000 },
    byTicks: [16, 32, 64, 128, 256],
  },
};

/** Of a whole message. */
const FAILURE = 1e-9;
/** Ten years of five-minute ticks. */
const LONG_WINDOW = { ticks: 2 ** 20, states: 64 };

export interface PkeResult {
  readonly messageRecovered: boolean;
  readonly bitErrors: number;
  readonly bits: number;
  readonly clients: number;
  readonly byClients: readonly ErrorsByClients[];
  readonly counters: readonly [Transmission, ...Transmission[]];
  readonly smallSpace: SmallSpaceResult;
}

export interface SmallSpaceResult {
  readonly epsilon: number;
  readonly transmission: Transmission;
  readonly byClients: readonly ErrorsByClients[];
  readonly byTicks: readonly Price[];
  readonly longWindow: Distance & { readonly squarings: number };
}

export function runPkeFromPanPrivacy(size: PkeSize, { random, progress }: Surroundings): PkeResult {
  const parts = size.lethe.length + size.byClients.clients.length + 1;
  let done = 0;
  const part = (): Surroundings => {
    const before = done++;
    return { random, progress: (share) => progress((before + share) / parts) };
  };
  const send = ({ counter: options, message }: LetheMessage): Transmission => {
    const counter = createLetheCounter(options);
    return transmit(counter, encryptionFrom, clientsFor(counter, bitsOf(message).length, FAILURE), message, part());
  };
  const [first, ...others] = size.lethe;
  const sent = send(first);
  const counters = [sent, ...others.map(send)] as const;
  const counter = createLetheCounter(first.counter);
  const { clients, inAll } = size.byClients;
  const byClients = clients.map((number) => errorsWith(counter, encryptionFrom, number, inAll, part()));
  const smallSpace = runSmallSpace(size.smallSpace, part());
  progress(1);
  const { messageRecovered, bitErrors, bits } = sent;
  return { messageRecovered, bitErrors, bits, clients: sent.clients, byClients, counters, smallSpace };
}

/** Thm. 6.2. */
function runSmallSpace(
  { message, epsilon, ticks, byClients: { clients: numbers, inAll }, byTicks }: PkeSize["smallSpace"],
  { random, progress }: Surroundings,
): SmallSpaceResult {
  const bits = bitsOf(message).length;
  const counter = createRunningCount(ticks, epsilon);
  const clients = clientsFor(counter, bits, FAILURE);
  return withBufferedRandomness(random, (buffered) => ({
    epsilon,
    transmission: transmit(counter, smallSpaceEncryptionFrom, clients, message, { random: buffered, progress }),
    byClients: numbers.map((number) =>
      errorsWith(counter, smallSpaceEncryptionFrom, number, inAll, { random: buffered, progress: () => {} }),
    ),
    byTicks: byTicks.map((ticks) => priceOfRunningCount(ticks, epsilon, bits, FAILURE)),
    longWindow: distanceInLongWindow(LONG_WINDOW.ticks, LONG_WINDOW.states, epsilon),
  }));
}

const ABOUT = `
A device that counts with Lethe stores a ciphertext, and a public key to make it with. Could something simpler do: a
hash, a password, clever noise? The paper says no (section 6): **whoever has a pan-private counter that is accurate has
public-key encryption already**, whether or not anybody calls it that. Public-key encryption is believed not to follow
from hashes or shared-key ciphers, so a counter that uses only those is either inaccurate or not pan-private. This page
takes that proof at its word and runs it.

**Theorem 6.1.** The construction is given a counter as an object with four functions, *initialize*, *update*, *output* and
*estimate*, and knows nothing else of it. To make keys, initialize *n* clients: what they hold is the public key, what
the server holds about them is the private key. To encrypt a bit, let it happen on all clients in their first tick, or
on none; the ciphertext is what the clients have then stored. To rerandomize it, let a tick pass. To decrypt, let the
remaining ticks pass, have every client send its output, and see whether the estimate is nearer to *n* or to 0.
It decrypts because the counter is accurate, and it is secure because the counter is pan-private: a ciphertext is
nothing but what an intruder would find on the clients. We put Lethe's own counters in, as devices run
them, and send a message bit by bit, with a stranger rerandomizing each on its way. Each client's answer is
randomized response, so a bit is a vote of *n* clients, and how often the vote goes wrong is known exactly.

As a check that it is not too easy, somebody else tries to read the first 16 bits too: they have the public key and all of
the code, and make up a private key. That this fails proves no security, but where it succeeds there is none.

**Theorem 6.2** is about counters that leak a little, ε instead of nothing, and have few states. The bit now happens at
a random tick of a window so long that one event is lost in it, and clients are not simulated tick by tick: the
matrix of transition probabilities is squared again and again, so that a jump over any number of ticks takes as many draws
as that number has binary digits. We put in the paper's best counter without cryptography, which counts
randomized bits (its ε is for one event against none, the easiest there is). One client's state then hardly depends on
the bit, by about ε/√T. But to be read the bit must be on *n* clients, with *n* in proportion to T, and **all of them
together give it away**: a counter without secrets makes an encryption that everybody can decrypt. The theorem's
security, as printed, is that of a single client. For the whole ciphertext the hybrid argument gives *n* times as much; that some factor which grows with *n* is needed is what this counter shows, not that it is *n*. What it says about accurate counters stands, for their *n* does not grow with T. It is
exactly such accuracy over long windows that a counter cannot have without public-key cryptography.
`;

export const pkeFromPanPrivacy: Experiment = {
  about: ABOUT,
  run: async (surroundings): Promise<Finding> => {
    const result = runPkeFromPanPrivacy(DEFAULT_SIZE, surroundings);
    return { json: result, tables: pkeTables(result), reading: describePke(result), svg: renderSvg(pkePlot(result)) };
  },
};
