import { LetheError, requireLength } from "../error.ts";
import { type DiscreteGaussian, drawDiscreteGaussian } from "../privacy/discrete-gaussian.ts";
import type { Randomness } from "../randomness/index.ts";
import { add, ELEMENT_BYTES, type Elements, halve, read, WORDS, write } from "../sharing/field64.ts";

/** One server's share of the sums of all devices' answers. */
export interface AggregateShare {
  /** Of one device, an element for every answer. */
  add(outShare: Uint8Array): void;
  /** Values that everybody may know, instead of a report; at one server only, so that they count once. */
  addConstant(values: readonly number[]): void;
  /** Once, before it is given away; nothing where there is none. */
  addNoise(noise: readonly (DiscreteGaussian | undefined)[], random: Randomness): void;
  /** As it is to be stored or given away. */
  encode(): Uint8Array;
}

/** A share of sums of this number of answers that begins at zero, or at what was stored. */
export function createAggregateShare(answers: number, stored?: Uint8Array): AggregateShare {
  const sums: Elements = new Uint32Array(answers * WORDS);
  const one: Elements = new Uint32Array(WORDS);
  const given: Elements = new Uint32Array(answers * WORDS);
  const addShares = (bytes: Uint8Array): void => {
    requireLength("a share of the answers", bytes, answers * ELEMENT_BYTES);
    // All are read before any is added.
    for (let i = 0; i < answers; i++) readElement(given, i, bytes, i);
    for (let i = 0; i < given.length; i += WORDS) add(sums, i, sums, i, given, i);
  };
  const requireOnePerAnswer = (values: readonly unknown[]): void => {
    if (values.length !== answers) throw new RangeError(`there are ${values.length} values for ${answers} answers`);
  };
  const addValue = (i: number, value: number): void => {
    placeInteger(one, value);
    add(sums, i * WORDS, sums, i * WORDS, one, 0);
  };
  if (stored) addShares(stored);
  return {
    add: addShares,
    addConstant: (values) => {
      requireOnePerAnswer(values);
      for (const [i, value] of values.entries()) addValue(i, value);
    },
    addNoise: (noise, random) => {
      requireOnePerAnswer(noise);
      for (const [i, each] of noise.entries()) {
        if (each) addValue(i, Number(drawDiscreteGaussian(each, random)));
      }
    },
    encode: () => {
      const bytes = new Uint8Array(answers * ELEMENT_BYTES);
      for (let i = 0; i < answers; i++) write(sums, i * WORDS, bytes, i * ELEMENT_BYTES);
      return bytes;
    },
  };
}

/** A server's share of values that both servers know: half of each, so that the shares of both are the same. */
export function halfSharesOf(values: readonly number[]): Uint8Array {
  const one: Elements = new Uint32Array(WORDS);
  const bytes = new Uint8Array(values.length * ELEMENT_BYTES);
  for (const [i, value] of values.entries()) {
    placeInteger(one, value);
    halve(one, 0, one, 0);
    write(one, 0, bytes, i * ELEMENT_BYTES);
  }
  return bytes;
}

/** One server's share of the sums of all devices in either of two of its shares. */
export function mergeAggregateShares(one: Uint8Array, other: Uint8Array): Uint8Array {
  const merged = createAggregateShare(Math.ceil(one.length / ELEMENT_BYTES), one);
  merged.add(other);
  return merged.encode();
}

/** The sums that two shares are of; noise may make them negative. */
export function addAggregateShares(leader: Uint8Array, helper: Uint8Array): number[] {
  const answers = Math.ceil(leader.length / ELEMENT_BYTES);
  for (const share of [leader, helper]) requireLength("a share of the sums", share, answers * ELEMENT_BYTES);
  const pair = new Uint32Array(2 * WORDS);
  return Array.from({ length: answers }, (_, i) => {
    readElement(pair, 0, leader, i);
    readElement(pair, 1, helper, i);
    add(pair, 0, pair, 0, pair, WORDS);
    return integerOf(pair);
  });
}

function readElement(out: Elements, o: number, bytes: Uint8Array, i: number): void {
  if (!read(out, o * WORDS, bytes, i * ELEMENT_BYTES)) {
    throw new LetheError("bad-encoding", "a share of the sums holds what is no field element");
  }
}

/** Sums of 10⁹ devices and of the widest noise are far below. */
const MOST = 2 ** 52;
const WORD = 2 ** 32;
/** The modulus is (2³² − 1)·2³² + 1. */
const HIGH_MODULUS = WORD - 1;

function placeInteger(out: Elements, value: number): void {
  if (!(Number.isInteger(value) && Math.abs(value) <= MOST)) throw new RangeError(`${value} is no sum of answers`);
  const size = Math.abs(value);
  const [low, high] = [size % WORD, Math.floor(size / WORD)];
  if (value >= 0) out.set([low, high]);
  // The modulus less the size: (2³² − 1 − high)·2³² + 1 − low.
  else out.set(low > 1 ? [WORD + 1 - low, HIGH_MODULUS - high - 1] : [1 - low, HIGH_MODULUS - high]);
}

/** The nearest to zero of the integers that an element stands for. */
function integerOf(element: Elements): number {
  const [low, high] = element as unknown as [number, number];
  const value = high < WORD / 2 ? high * WORD + low : (high - HIGH_MODULUS) * WORD + (low - 1);
  if (Math.abs(value) > MOST) throw new LetheError("bad-encoding", "these shares are not of one sum");
  return value;
}
