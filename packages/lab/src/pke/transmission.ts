import type { Randomness } from "@lethe/core/randomness";
import type { Bit, PanPrivateCounter } from "./counter.ts";
import type { KeyPair, PublicKeyEncryption } from "./encryption.ts";
import { bitsOf, textOf } from "./message-bits.ts";

/** How the transmission of a message went. */
export interface Transmission {
  readonly counter: string;
  readonly ticks: number;
  readonly clients: number;
  readonly message: string;
  readonly received: string;
  readonly messageRecovered: boolean;
  readonly bitErrors: number;
  readonly bits: number;
  /** At most the probability that any bit of it is wrong. */
  readonly bound: number;
  /** How the probability of a wrong bit falls with the number of clients. */
  readonly theory: readonly { readonly clients: number; readonly bound: number }[];
  readonly bytes: { readonly publicKey: number; readonly privateKey: number; readonly ciphertext: number };
  /** The first bits, read by a stranger who has the public key and the code, and made up a private key. */
  readonly withoutKey: { readonly bitErrors: number; readonly bits: number; readonly advantage: number };
}

/** What a transmission gets from its caller. */
export interface Errand {
  readonly random: Randomness;
  readonly progress: (share: number) => void;
}

/** Encrypts single bits with this many clients. */
export type EncryptionOf<C extends PanPrivateCounter> = (counter: C, clients: number) => PublicKeyEncryption;

/** How many bits of a message the stranger tries to read. */
const TRIED_BITS = 16;

/**
 * Sends a message bit by bit: each bit is encrypted, rerandomized, decrypted by the owner of the key, and by a
 * stranger.
 */
export function transmit<C extends PanPrivateCounter>(
  counter: C,
  encryptionOf: EncryptionOf<C>,
  clients: number,
  message: string,
  { random, progress }: Errand,
): Transmission {
  const encryption = encryptionOf(counter, clients);
  const keys = encryption.generateKeys(random);
  const stranger: KeyPair = { ...keys, privateKey: encryption.generateKeys(random).privateKey };
  const bits = bitsOf(message);
  const guesses: Bit[] = [];
  let ciphertext = 0;
  const received = bits.map((bit, i) => {
    progress(i / bits.length);
    const sent = encryption.encrypt(keys.publicKey, bit, random);
    const passedOn = encryption.rerandomize(keys.publicKey, sent, random);
    ciphertext = lengthOf(passedOn.states);
    if (i < TRIED_BITS) guesses.push(encryption.decrypt(stranger, passedOn, random));
    return encryption.decrypt(keys, passedOn, random);
  });
  const bitErrors = countErrors(bits, received);
  const publicParts = keys.publicKey.clients.flatMap(({ parameters, state }) => [parameters, state]);
  const tried = bits.slice(0, TRIED_BITS);
  return {
    counter: counter.name,
    ticks: counter.ticks,
    clients,
    message,
    received: textOf(received),
    messageRecovered: textOf(received) === message,
    bitErrors,
    bits: bits.length,
    bound: bits.length * counter.mistakeBound(clients),
    theory: theoryOf(counter, clients),
    bytes: { publicKey: lengthOf(publicParts), privateKey: lengthOf(keys.privateKey), ciphertext },
    withoutKey: {
      bitErrors: countErrors(tried, guesses),
      bits: tried.length,
      advantage: advantageOf(tried, guesses),
    },
  };
}

/** From one client to as many as a message is sent with, about evenly on a logarithmic scale. */
function theoryOf({ mistakeBound }: PanPrivateCounter, most: number): Transmission["theory"] {
  const STEPS = 24;
  const odd = Array.from({ length: STEPS + 1 }, (_, i) => 2 * Math.floor(most ** (i / STEPS) / 2) + 1);
  return [...new Set(odd)].map((clients) => ({ clients, bound: mistakeBound(clients) }));
}

/** How many bits were wrong with a number of clients. */
export interface ErrorsByClients {
  readonly clients: number;
  readonly bitErrors: number;
  readonly bits: number;
  /** At most the probability that a bit is wrong, from the counter's own accuracy. */
  readonly bound: number;
}

/** Sends bits 0 and 1 in turn, each under a new key, until `clientsInAll` clients have been simulated. */
export function errorsWith<C extends PanPrivateCounter>(
  counter: C,
  encryptionOf: EncryptionOf<C>,
  clients: number,
  clientsInAll: number,
  { random, progress }: Errand,
): ErrorsByClients {
  const encryption = encryptionOf(counter, clients);
  const bits = Array.from({ length: Math.ceil(clientsInAll / clients) }, (_, i): Bit => (i % 2 === 0 ? 0 : 1));
  const received = bits.map((bit, i) => {
    progress(i / bits.length);
    const keys = encryption.generateKeys(random);
    return encryption.decrypt(keys, encryption.encrypt(keys.publicKey, bit, random), random);
  });
  const bound = Math.min(1, counter.mistakeBound(clients));
  return { clients, bitErrors: countErrors(bits, received), bits: bits.length, bound };
}

function countErrors(sent: readonly Bit[], received: readonly Bit[]): number {
  return sent.filter((bit, i) => bit !== received[i]).length;
}

/** How much more often a 1 is read as 1 than a 0 is: 1 for a reader who reads everything, 0 for one who guesses. */
function advantageOf(sent: readonly Bit[], guesses: readonly Bit[]): number {
  const taken = (bit: Bit): number => {
    const those = guesses.filter((_, i) => sent[i] === bit);
    return those.filter((guess) => guess === 1).length / Math.max(1, those.length);
  };
  return taken(1) - taken(0);
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
