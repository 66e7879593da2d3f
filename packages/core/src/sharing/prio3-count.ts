import { LetheError, requireLength } from "../error.ts";
import {
  add,
  ELEMENT_BYTES,
  type Elements,
  halve,
  isEqual,
  multiply,
  place,
  read,
  subtract,
  WORDS,
  write,
} from "./field64.ts";
import type { Keccak } from "./keccak.ts";
import { BLOCK_WORDS, beginStream } from "./xof.ts";

/**
 * Prio3Count of draft-irtf-cfrg-vdaf-20 (version 18): a bit, shared among aggregators with a proof that it is one.
 * There is no joint randomness, so a sharing does not depend on the nonce under which it is verified; each is verified
 * under one nonce, once, ever (docs/threat-model.md).
 */
export interface Prio3Count {
  readonly shares: number;
  /** Bytes of `rand`. */
  readonly randBytes: number;
  shard(
    ctx: Uint8Array,
    measurement: number,
    nonce: Uint8Array,
    rand: Uint8Array,
  ): { readonly publicShare: Uint8Array; readonly inputShares: readonly Uint8Array[] };
  verifyInit(
    verifyKey: Uint8Array,
    ctx: Uint8Array,
    aggregatorId: number,
    nonce: Uint8Array,
    publicShare: Uint8Array,
    inputShare: Uint8Array,
  ): { readonly state: VerifyState; readonly verifierShare: Uint8Array };
  /** Throws `bad-proof` if the shares are not those of a bit. */
  verifierSharesToMessage(ctx: Uint8Array, verifierShares: readonly Uint8Array[]): Uint8Array;
  /** The same question, answered in the same time whatever the answer. */
  isProven(verifierShares: readonly Uint8Array[]): boolean;
  verifyNext(state: VerifyState, message: Uint8Array): Uint8Array;
  aggregate(outShares: readonly Uint8Array[]): Uint8Array;
  /** How many of `count` bits were 1. */
  unshard(aggregateShares: readonly Uint8Array[], count: number): number;
}

/** What an aggregator keeps until the others' shares say that the proof holds. */
export interface VerifyState {
  readonly outShare: Uint8Array;
}

const NONCE_BYTES = 16;
const SEED_BYTES = 32;
const VERIFY_KEY_BYTES = SEED_BYTES;
/** Two seeds of wires, and the product of the wires at three points. */
const PROOF_LENGTH = 5;
const LEADER_SHARE_BYTES = (1 + PROOF_LENGTH) * ELEMENT_BYTES;
/** What the circuit gives, the wires and their product at a random point. */
const VERIFIER_LENGTH = 4;
const VERIFIER_SHARE_BYTES = VERIFIER_LENGTH * ELEMENT_BYTES;
const OUT_SHARE_BYTES = ELEMENT_BYTES;
const MOST_SHARES = 255;

const VERSION = 18;
const ALGORITHM = [0, 0, 0, 0, 1] as const;
/** What a stream is for: the first part of its tag, with version and algorithm. */
type Usage = Uint8Array;
const usage = (number: number): Usage => Uint8Array.of(VERSION, ...ALGORITHM, 0, number);
const MEASUREMENT_SHARE = usage(1);
const PROOF_SHARE = usage(2);
const PROVE_RANDOMNESS = usage(4);
const QUERY_RANDOMNESS = usage(5);
const PROOFS = 1;
const EMPTY = new Uint8Array();

/** The scratch elements of one computation after another, all zero in between. */
interface Scratch {
  /** All of it. */
  readonly all: Elements;
  /** A measurement and its proof. */
  readonly share: Elements;
  readonly verifier: Elements;
  readonly point: Elements;
  readonly terms: Elements;
}

/** Prio3Count whose streams come from the given permutation. */
export function createPrio3CountOn(keccak: Keccak, shares: number): Prio3Count {
  if (!Number.isInteger(shares) || shares < 2 || shares > MOST_SHARES) {
    throw new RangeError(`shares is a whole number from 2 to ${MOST_SHARES}, not ${shares}`);
  }
  const randBytes = shares * SEED_BYTES;
  const requireShares = (what: string, given: readonly Uint8Array[], bytes: number): void => {
    if (given.length !== shares) throw new RangeError(`there are ${given.length} ${what}s instead of ${shares}`);
    for (const share of given) requireLength(`a ${what}`, share, bytes);
  };
  const elements = (length: number): Elements => new Uint32Array(length * WORDS);
  const scratch = createScratch();
  const { share, verifier, point } = scratch;
  const binder = new Uint8Array(1 + NONCE_BYTES);
  binder[0] = PROOFS;
  /** Of shares of one element. */
  function sumOf(shareBytes: readonly Uint8Array[]): Elements {
    const sum = elements(1);
    try {
      for (const bytes of shareBytes) addDecoded(bytes, sum, scratch);
      return sum;
    } finally {
      scratch.all.fill(0);
    }
  }

  function isProven(verifierShares: readonly Uint8Array[]): boolean {
    requireShares("verifier share", verifierShares, VERIFIER_SHARE_BYTES);
    try {
      for (const verifierShare of verifierShares) addDecoded(verifierShare, verifier, scratch);
      return decide(scratch);
    } finally {
      scratch.all.fill(0);
    }
  }

  return {
    shares,
    randBytes,
    shard: (ctx, measurement, nonce, rand) => {
      if (measurement !== 0 && measurement !== 1) throw new RangeError("the measurement is 0 or 1");
      requireLength("the nonce", nonce, NONCE_BYTES);
      requireLength("the randomness", rand, randBytes);
      const seed = (i: number): Uint8Array => rand.subarray(i * SEED_BYTES, (i + 1) * SEED_BYTES);
      const helpers = Array.from({ length: shares - 1 }, (_, i) => seed(i).slice());
      const leader = elements(1 + PROOF_LENGTH);
      try {
        prove(keccak, ctx, measurement, seed(shares - 1), leader, scratch);
        for (const [i, helper] of helpers.entries()) {
          expandShare(keccak, ctx, i + 1, helper, share);
          for (let at = 0; at < leader.length; at += WORDS) subtract(leader, at, leader, at, share, at);
        }
        return { publicShare: EMPTY, inputShares: [encode(leader, 0, 1 + PROOF_LENGTH), ...helpers] };
      } finally {
        scratch.all.fill(0);
        leader.fill(0);
      }
    },
    verifyInit: (verifyKey, ctx, aggregatorId, nonce, publicShare, inputShare) => {
      if (!Number.isInteger(aggregatorId) || aggregatorId < 0 || aggregatorId >= shares) {
        throw new RangeError(`an aggregator's id is from 0 to ${shares - 1}, not ${aggregatorId}`);
      }
      requireLength("the verify key", verifyKey, VERIFY_KEY_BYTES);
      requireLength("the nonce", nonce, NONCE_BYTES);
      requireLength("the public share", publicShare, 0);
      requireLength("an input share", inputShare, aggregatorId === 0 ? LEADER_SHARE_BYTES : SEED_BYTES);
      try {
        if (aggregatorId === 0) decode(inputShare, share);
        else expandShare(keccak, ctx, aggregatorId, inputShare, share);
        binder.set(nonce, 1);
        expand(keccak, QUERY_RANDOMNESS, ctx, verifyKey, binder, point, 0, 1);
        query(scratch);
        return {
          state: { outShare: encode(share, 0, 1) },
          verifierShare: encode(verifier, 0, VERIFIER_LENGTH),
        };
      } finally {
        scratch.all.fill(0);
      }
    },
    verifierSharesToMessage: (_ctx, verifierShares) => {
      if (!isProven(verifierShares)) throw new LetheError("bad-proof", "these are not shares of a bit");
      return EMPTY;
    },
    isProven,
    verifyNext: ({ outShare }, message) => {
      requireLength("the verifier message", message, 0);
      return outShare;
    },
    aggregate: (outShares) => {
      for (const outShare of outShares) requireLength("an out share", outShare, OUT_SHARE_BYTES);
      return encode(sumOf(outShares), 0, 1);
    },
    unshard: (aggregateShares, count) => {
      requireShares("aggregate share", aggregateShares, OUT_SHARE_BYTES);
      const [low, high] = sumOf(aggregateShares) as unknown as [number, number];
      const result = low + 2 ** 32 * high;
      if (!(result <= count)) throw new LetheError("bad-encoding", `these shares add up to more than ${count}`);
      return result;
    },
  };
}

function createScratch(): Scratch {
  const lengths = { share: 1 + PROOF_LENGTH, verifier: VERIFIER_LENGTH, point: 2, terms: 4 };
  const all = new Uint32Array(Object.values(lengths).reduce((sum, length) => sum + length, 0) * WORDS);
  let at = 0;
  const next = (length: number): Elements => {
    at += length * WORDS;
    return all.subarray(at - length * WORDS, at);
  };
  return {
    all,
    share: next(lengths.share),
    verifier: next(lengths.verifier),
    point: next(lengths.point),
    terms: next(lengths.terms),
  };
}

const constant = (low: number, high: number): Elements => Uint32Array.of(low, high);
/** The two square roots of 1 are 1 and −1; this is one of −1. */
const ROOT = constant(0, 2 ** 16);
const ONE = constant(1, 0);
const ZERO = constant(0, 0);

/**
 * The places of a measurement's proof: the seeds of both wires, and the product of the wires where X is 1, √−1 and −1.
 */
const [MEASUREMENT, LEFT_SEED, RIGHT_SEED, AT_ONE, AT_ROOT, AT_MINUS_ONE] = [0, 2, 4, 6, 8, 10] as const;

function prove(keccak: Keccak, ctx: Uint8Array, bit: number, seed: Uint8Array, out: Elements, scratch: Scratch): void {
  const { verifier: wires } = scratch;
  out[MEASUREMENT] = bit;
  expand(keccak, PROVE_RANDOMNESS, ctx, seed, ONE_PROOF, out, LEFT_SEED, 2);
  evaluateWire(wires, 0, out, LEFT_SEED, ROOT, scratch);
  evaluateWire(wires, WORDS, out, RIGHT_SEED, ROOT, scratch);
  multiply(out, AT_ONE, out, LEFT_SEED, out, RIGHT_SEED);
  multiply(out, AT_ROOT, wires, 0, wires, WORDS);
  multiply(out, AT_MINUS_ONE, out, MEASUREMENT, out, MEASUREMENT);
}

/** A wire is the line through its seed where X is 1, and its input, the measurement, where X is −1. */
function evaluateWire(
  out: Elements,
  o: number,
  share: Elements,
  seed: number,
  point: Elements,
  { terms }: Scratch,
): void {
  subtract(terms, 0, share, seed, share, MEASUREMENT);
  multiply(terms, 0, terms, 0, point, 0);
  add(terms, 0, terms, 0, share, seed);
  add(terms, 0, terms, 0, share, MEASUREMENT);
  halve(out, o, terms, 0);
}

/** An aggregator's share of what the circuit gives, x·x − x, and of the wires and their product at the point. */
function query(scratch: Scratch): void {
  const { share, verifier, point } = scratch;
  multiply(point, WORDS, point, 0, point, 0);
  // One in 2⁶³: at a root of unity the wire would show its input.
  if (isEqual(point, WORDS, ONE, 0))
    throw new LetheError("bad-encoding", "the query falls on a root of unity: use another nonce");
  subtract(verifier, 0, share, AT_MINUS_ONE, share, MEASUREMENT);
  evaluateWire(verifier, WORDS, share, LEFT_SEED, point, scratch);
  evaluateWire(verifier, 2 * WORDS, share, RIGHT_SEED, point, scratch);
  evaluateProduct(scratch);
}

/**
 * The parabola a + b·X + c·X² through its values where X is 1, √−1 and −1: b is half the difference of the first and
 * the last, a + c half their sum, and a − c the second less b·√−1.
 */
function evaluateProduct({ share, verifier, point, terms }: Scratch): void {
  const [b, sum, difference, c] = [0, WORDS, 2 * WORDS, 3 * WORDS] as const;
  const out = 3 * WORDS;
  subtract(terms, b, share, AT_ONE, share, AT_MINUS_ONE);
  halve(terms, b, terms, b);
  add(terms, sum, share, AT_ONE, share, AT_MINUS_ONE);
  halve(terms, sum, terms, sum);
  multiply(terms, difference, terms, b, ROOT, 0);
  subtract(terms, difference, share, AT_ROOT, terms, difference);
  subtract(terms, c, terms, sum, terms, difference);
  halve(terms, c, terms, c);
  // a is what is left of the sum.
  subtract(verifier, out, terms, sum, terms, c);
  multiply(terms, b, terms, b, point, 0);
  add(verifier, out, verifier, out, terms, b);
  multiply(terms, c, terms, c, point, WORDS);
  add(verifier, out, verifier, out, terms, c);
}

/** The circuit gives 0, and the product is that of the wires. */
function decide({ verifier, terms }: Scratch): boolean {
  multiply(terms, 0, verifier, WORDS, verifier, 2 * WORDS);
  const isProduct = isEqual(terms, 0, verifier, 3 * WORDS);
  const isZero = isEqual(verifier, 0, ZERO, 0);
  return isProduct && isZero;
}

const ONE_PROOF = Uint8Array.of(PROOFS);
/** By aggregator: what its share of a proof is bound to, and without the first byte its share of the measurement. */
const SHARE_BINDERS = Array.from({ length: MOST_SHARES }, (_, aggregator) => Uint8Array.of(PROOFS, aggregator));

function expandShare(keccak: Keccak, ctx: Uint8Array, aggregatorId: number, seed: Uint8Array, out: Elements): void {
  const binder = SHARE_BINDERS[aggregatorId] as Uint8Array;
  expand(keccak, MEASUREMENT_SHARE, ctx, seed, binder.subarray(1), out, MEASUREMENT, 1);
  expand(keccak, PROOF_SHARE, ctx, seed, binder, out, LEFT_SEED, PROOF_LENGTH);
}

/** Uniform elements; eight bytes that are none are passed over. */
function expand(
  keccak: Keccak,
  usage: Usage,
  ctx: Uint8Array,
  seed: Uint8Array,
  binder: Uint8Array,
  out: Elements,
  o: number,
  length: number,
): void {
  beginStream(keccak, usage, ctx, seed, binder);
  const { words } = keccak;
  let at = 0;
  for (let found = 0; found < length; at += WORDS) {
    if (at === BLOCK_WORDS) {
      keccak.permute();
      at = 0;
    }
    if (place(out, o + found * WORDS, words[at] as number, words[at + 1] as number)) found++;
  }
  words.fill(0);
}

function encode(elements: Elements, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length * ELEMENT_BYTES);
  for (let i = 0; i < length; i++) write(elements, from + i * WORDS, bytes, i * ELEMENT_BYTES);
  return bytes;
}

function decode(bytes: Uint8Array, out: Elements): void {
  for (let i = 0; i < out.length; i += WORDS) decodeElement(bytes, 4 * i, out, i);
}

function decodeElement(bytes: Uint8Array, at: number, out: Elements, o: number): void {
  if (!read(out, o, bytes, at)) throw new LetheError("bad-encoding", "a share holds what is no field element");
}

function addDecoded(bytes: Uint8Array, sums: Elements, { terms }: Scratch): void {
  for (let i = 0; i < sums.length; i += WORDS) {
    decodeElement(bytes, 4 * i, terms, 0);
    add(sums, i, sums, i, terms, 0);
  }
}
