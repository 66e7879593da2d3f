import { LetheError, requireLength } from "../error.ts";
import { add, ELEMENT_BYTES, type Elements, isEqual, multiply, read, subtract, WORDS, write } from "./field64.ts";
import { XOF_BLOCK_BYTES, xofTurboShake128 } from "./xof.ts";

/**
 * Prio3Count of draft-irtf-cfrg-vdaf-20 (version 18): a bit, shared among aggregators with a proof that it is one. There is no
 * joint randomness, so a sharing does not depend on the nonce under which it is verified; each is verified under one nonce, once, ever
 * (docs/threat-model.md).
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

const [MEASUREMENT_SHARE, PROOF_SHARE, PROVE_RANDOMNESS, QUERY_RANDOMNESS] = [1, 2, 4, 5] as const;
type Usage = typeof MEASUREMENT_SHARE | typeof PROOF_SHARE | typeof PROVE_RANDOMNESS | typeof QUERY_RANDOMNESS;
const PROOFS = 1;
const EMPTY = new Uint8Array();

export function createPrio3Count(shares: number): Prio3Count {
  if (!Number.isInteger(shares) || shares < 2 || shares > MOST_SHARES) {
    throw new RangeError(`shares is a whole number from 2 to ${MOST_SHARES}, not ${shares}`);
  }
  const randBytes = shares * SEED_BYTES;
  const requireShares = (what: string, given: readonly Uint8Array[], bytes: number): void => {
    if (given.length !== shares) throw new RangeError(`there are ${given.length} ${what}s instead of ${shares}`);
    for (const share of given) requireLength(`a ${what}`, share, bytes);
  };

  return {
    shares,
    randBytes,
    shard: (ctx, measurement, nonce, rand) => {
      if (measurement !== 0 && measurement !== 1) throw new RangeError("the measurement is 0 or 1");
      requireLength("the nonce", nonce, NONCE_BYTES);
      requireLength("the randomness", rand, randBytes);
      const seed = (i: number): Uint8Array => rand.slice(i * SEED_BYTES, (i + 1) * SEED_BYTES);
      const helpers = Array.from({ length: shares - 1 }, (_, i) => seed(i));
      const leader = prove(measurement, expand(PROVE_RANDOMNESS, ctx, seed(shares - 1), [PROOFS], 2));
      for (const [i, helper] of helpers.entries()) {
        const share = expandShare(ctx, i + 1, helper);
        for (let at = 0; at < leader.length; at += WORDS) subtract(leader, at, leader, at, share, at);
      }
      return { publicShare: EMPTY, inputShares: [encode(leader), ...helpers] };
    },
    verifyInit: (verifyKey, ctx, aggregatorId, nonce, publicShare, inputShare) => {
      if (!Number.isInteger(aggregatorId) || aggregatorId < 0 || aggregatorId >= shares) {
        throw new RangeError(`an aggregator's id is from 0 to ${shares - 1}, not ${aggregatorId}`);
      }
      requireLength("the verify key", verifyKey, VERIFY_KEY_BYTES);
      requireLength("the nonce", nonce, NONCE_BYTES);
      requireLength("the public share", publicShare, 0);
      requireLength("an input share", inputShare, aggregatorId === 0 ? LEADER_SHARE_BYTES : SEED_BYTES);
      const share = aggregatorId === 0 ? decode(inputShare) : expandShare(ctx, aggregatorId, inputShare);
      const binder = new Uint8Array(1 + NONCE_BYTES);
      binder[0] = PROOFS;
      binder.set(nonce, 1);
      const point = expand(QUERY_RANDOMNESS, ctx, verifyKey, binder, 1);
      return {
        state: { outShare: encode(share.subarray(0, WORDS)) },
        verifierShare: encode(query(share, point)),
      };
    },
    verifierSharesToMessage: (_ctx, verifierShares) => {
      requireShares("verifier share", verifierShares, VERIFIER_SHARE_BYTES);
      if (!decide(sumOf(verifierShares))) throw new LetheError("bad-proof", "these are not shares of a bit");
      return EMPTY;
    },
    verifyNext: ({ outShare }, message) => {
      requireLength("the verifier message", message, 0);
      return outShare;
    },
    aggregate: (outShares) => {
      for (const share of outShares) requireLength("an out share", share, OUT_SHARE_BYTES);
      return outShares.length === 0 ? new Uint8Array(OUT_SHARE_BYTES) : encode(sumOf(outShares));
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

/** For a leader and one helper. */
export const prio3Count: Prio3Count = createPrio3Count(2);

/** Elements of which a few are used again and again. */
const constant = (low: number, high: number): Elements => Uint32Array.of(low, high);
/** The two square roots of 1 are 1 and −1; this is one of −1. */
const ROOT = constant(0, 2 ** 16);
const HALF = constant(0x8000_0001, 0x7fff_ffff);
const ONE = constant(1, 0);

/** The bit and its proof: the seeds of both wires, and the product of the wires where X is 1, √−1 and −1. */
function prove(bit: number, seeds: Elements): Elements {
  const all = new Uint32Array((1 + PROOF_LENGTH) * WORDS);
  all[0] = bit;
  all.set(seeds, WORDS);
  const wires = new Uint32Array(2 * WORDS);
  for (let j = 0; j < 2; j++) evaluateWire(wires, j * WORDS, seeds, j * WORDS, all, 0, ROOT);
  const [atOne, atRoot, atMinusOne] = [3 * WORDS, 4 * WORDS, 5 * WORDS];
  multiply(all, atOne, seeds, 0, seeds, WORDS);
  multiply(all, atRoot, wires, 0, wires, WORDS);
  multiply(all, atMinusOne, all, 0, all, 0);
  return all;
}

/** A wire is the line through its seed where X is 1, and its input where X is −1. */
function evaluateWire(
  out: Elements,
  o: number,
  seeds: Elements,
  j: number,
  inputs: Elements,
  i: number,
  point: Elements,
): void {
  const slope = new Uint32Array(WORDS);
  subtract(slope, 0, seeds, j, inputs, i);
  multiply(slope, 0, slope, 0, point, 0);
  add(out, o, seeds, j, inputs, i);
  add(out, o, out, o, slope, 0);
  multiply(out, o, out, o, HALF, 0);
}

/** An aggregator's share of what the circuit gives, x·x − x, and of the wires and their product at the point. */
function query(share: Elements, point: Elements): Elements {
  const square = new Uint32Array(WORDS);
  multiply(square, 0, point, 0, point, 0);
  // One in 2⁶³: at a root of unity the wire would show its input.
  if (isEqual(square, 0, ONE, 0))
    throw new LetheError("bad-encoding", "the query falls on a root of unity: use another nonce");
  const verifier = new Uint32Array(VERIFIER_LENGTH * WORDS);
  subtract(verifier, 0, share, 5 * WORDS, share, 0);
  evaluateWire(verifier, WORDS, share, WORDS, share, 0, point);
  evaluateWire(verifier, 2 * WORDS, share, 2 * WORDS, share, 0, point);
  evaluateProduct(verifier, 3 * WORDS, share.subarray(3 * WORDS), point, square);
  return verifier;
}

/**
 * The parabola a + b·X + c·X² through its values where X is 1, √−1 and −1: b is half the difference of the first and the last, a + c half
 * their sum, and a − c the second less b·√−1.
 */
function evaluateProduct(out: Elements, o: number, values: Elements, point: Elements, square: Elements): void {
  const [b, sum, difference, c] = [0, WORDS, 2 * WORDS, 3 * WORDS];
  const terms = new Uint32Array(4 * WORDS);
  subtract(terms, b, values, 0, values, 2 * WORDS);
  multiply(terms, b, terms, b, HALF, 0);
  add(terms, sum, values, 0, values, 2 * WORDS);
  multiply(terms, sum, terms, sum, HALF, 0);
  multiply(terms, difference, terms, b, ROOT, 0);
  subtract(terms, difference, values, WORDS, terms, difference);
  subtract(terms, c, terms, sum, terms, difference);
  multiply(terms, c, terms, c, HALF, 0);
  // a is what is left of the sum.
  subtract(out, o, terms, sum, terms, c);
  multiply(terms, b, terms, b, point, 0);
  add(out, o, out, o, terms, b);
  multiply(terms, c, terms, c, square, 0);
  add(out, o, out, o, terms, c);
}

/** The circuit gives 0, and the product is that of the wires. */
function decide(verifier: Elements): boolean {
  const product = new Uint32Array(2 * WORDS);
  multiply(product, 0, verifier, WORDS, verifier, 2 * WORDS);
  const isProduct = isEqual(product, 0, verifier, 3 * WORDS);
  return isEqual(verifier, 0, product, WORDS) && isProduct;
}

function expandShare(ctx: Uint8Array, aggregatorId: number, seed: Uint8Array): Elements {
  const share = new Uint32Array((1 + PROOF_LENGTH) * WORDS);
  share.set(expand(MEASUREMENT_SHARE, ctx, seed, [aggregatorId], 1));
  share.set(expand(PROOF_SHARE, ctx, seed, [PROOFS, aggregatorId], PROOF_LENGTH), WORDS);
  return share;
}

const VERSION = 18;
const ALGORITHM = [0, 0, 0, 0, 1] as const;
/** Version, algorithm, and two bytes for the usage. */
const TAG_BYTES = 1 + ALGORITHM.length + 2;

/** Uniform elements; eight bytes that are none are passed over. The first block nearly always does: chances are 2⁻³⁰ that it does not. */
function expand(usage: Usage, ctx: Uint8Array, seed: Uint8Array, binder: ArrayLike<number>, length: number): Elements {
  const tag = new Uint8Array(TAG_BYTES + ctx.length);
  tag[0] = VERSION;
  tag.set(ALGORITHM, 1);
  tag[TAG_BYTES - 1] = usage;
  tag.set(ctx, TAG_BYTES);
  const elements = new Uint32Array(length * WORDS);
  for (let blocks = 1; ; blocks++) {
    const stream = xofTurboShake128(seed, tag, binder, blocks * XOF_BLOCK_BYTES);
    let found = 0;
    for (let at = 0; at < stream.length && found < length; at += ELEMENT_BYTES) {
      if (read(elements, found * WORDS, stream, at)) found++;
    }
    if (found === length) return elements;
  }
}

function encode(elements: Elements): Uint8Array {
  const bytes = new Uint8Array((elements.length / WORDS) * ELEMENT_BYTES);
  for (let i = 0; i < elements.length; i += WORDS) write(elements, i, bytes, 4 * i);
  return bytes;
}

function decode(bytes: Uint8Array): Elements {
  const elements = new Uint32Array((bytes.length / ELEMENT_BYTES) * WORDS);
  for (let i = 0; i < elements.length; i += WORDS) {
    if (!read(elements, i, bytes, 4 * i))
      throw new LetheError("bad-encoding", "a share holds what is no field element");
  }
  return elements;
}

/** Of vectors of the same length, at least one. */
function sumOf(vectors: readonly Uint8Array[]): Elements {
  const [first, ...others] = vectors.map(decode) as [Elements, ...Elements[]];
  for (const vector of others) {
    for (let i = 0; i < first.length; i += WORDS) add(first, i, first, i, vector, i);
  }
  return first;
}
