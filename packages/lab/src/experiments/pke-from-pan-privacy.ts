import { withBufferedRandomness } from "@lethe/core/randomness";
import { clientsFor } from "../pke/counter.ts";
import { encryptionFrom } from "../pke/encryption.ts";
import { createLetheCounter, type LetheCounterOptions } from "../pke/lethe-counter.ts";
import { bitsOf } from "../pke/message-bits.ts";
import { createRunningCount } from "../pke/running-count.ts";
import { smallSpaceEncryptionFrom } from "../pke/small-space-encryption.ts";
import { type Distance, distanceInLongWindow, type Price, priceOfRunningCount } from "../pke/small-space-price.ts";
import { type ErrorsByClients, errorsWith, type Transmission, transmit } from "../pke/transmission.ts";
import type { Experiment, Surroundings } from "./experiment.ts";
import { describePke } from "./pke-from-pan-privacy-finding.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** How much is run. */
export interface PkeSize {
  /** Lethe's counters, and the message that is sent with each. Errors are counted for the first. */
  readonly lethe: readonly [LetheMessage, ...LetheMessage[]];
  readonly byClients: ClientNumbers;
  /** The counter without cryptography. */
  readonly smallSpace: {
    readonly message: string;
    readonly epsilon: number;
    readonly ticks: number;
    readonly byClients: ClientNumbers;
    /** Window lengths, powers of two, for which its price is computed. */
    readonly byTicks: readonly number[];
  };
}

/** A message, and the counter that it is sent with. */
export interface LetheMessage {
  readonly counter: LetheCounterOptions;
  readonly message: string;
}

/** The numbers of clients that bits are encrypted with, and how many clients are simulated in all for each. */
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

/** The probability that a whole message is not read right, at most. */
const FAILURE = 1e-9;
/** Ten years of five-minute ticks. */
const LONG_WINDOW = { ticks: 2 ** 20, states: 64 };

/** What came out, for the first counter and for all. */
export interface PkeResult {
  readonly messageRecovered: boolean;
  readonly bitErrors: number;
  readonly bits: number;
  readonly clients: number;
  readonly byClients: readonly ErrorsByClients[];
  readonly counters: readonly [Transmission, ...Transmission[]];
  readonly smallSpace: SmallSpaceResult;
}

/** What came out for the counter without cryptography. */
export interface SmallSpaceResult {
  readonly epsilon: number;
  readonly transmission: Transmission;
  readonly byClients: readonly ErrorsByClients[];
  readonly byTicks: readonly Price[];
  readonly longWindow: Distance & { readonly squarings: number };
}

/** Sends all messages and counts all errors. */
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

const ABOUT = wrapMarkdown(`
A device that counts with Lethe stores a ciphertext, and a public key to make it with. Could something simpler do: a
hash, a password, clever noise? The paper says no (section 6): **anyone who has an accurate pan-private counter already
has public-key encryption**, whether or not anybody calls it that. Public-key encryption is believed not to follow from
hashes or shared-key ciphers, so a counter that uses only those is either inaccurate or not pan-private. This page takes
that proof at its word and runs it.

**Theorem 6.1.** The construction gets a counter as an object with four functions, *initialize*, *update*, *output* and
*estimate*, and knows nothing else about it. To make keys, initialize *n* clients: what they hold is the public key,
what the server holds about them is the private key. To encrypt a bit, let it happen on all clients in their first tick,
or on none; the ciphertext is what the clients have then stored. To rerandomize it, let a tick pass. To decrypt, let the
remaining ticks pass, have every client send its output, and see whether the estimate is nearer to *n* or to 0. It
decrypts because the counter is accurate, and it is secure because the counter is pan-private: a ciphertext is exactly
what an intruder would find on the clients. We insert Lethe's own counters, as devices run them, and send a message bit
by bit; a stranger rerandomizes each bit on its way. Each client's answer is randomized response, so a bit is a vote of
*n* clients, and the probability that the vote goes wrong is known exactly.

As a check that this is not too easy, a stranger also tries to read the first 16 bits. They have the public key and all
of the code, and make up a private key. Their failure proves no security, but their success would show that there is
none.

**Theorem 6.2** is about counters that leak a little, ε instead of nothing, and have few states. The bit now happens at
a random tick of a window so long that one event is lost in it. Clients are not simulated tick by tick: the matrix of
transition probabilities is squared again and again, so a jump over any number of ticks takes as many draws as that
number has binary digits. We insert the paper's best counter without cryptography, which counts randomized bits (its ε
is for one event against none, the easiest case). One client's state then hardly depends on the bit, by about ε/√T. But
to be read the bit must be on *n* clients, with *n* in proportion to T, and **all of them together give it away**: a
counter without secrets makes an encryption that everybody can decrypt.

The theorem's security, as printed, is that of a single client. For the whole ciphertext the hybrid argument gives *n*
times as much. This counter shows that some factor which grows with *n* is needed, not that the factor is *n*. What the
theorem says about accurate counters stands, because their *n* does not grow with T. Such accuracy over long windows is
exactly what a counter cannot have without public-key cryptography.
`);

/** A message sent with the encryption that the paper's proof makes of a counter. */
export const pkeFromPanPrivacy: Experiment = {
  about: ABOUT,
  run: async (surroundings) => describePke(runPkeFromPanPrivacy(DEFAULT_SIZE, surroundings)),
};
