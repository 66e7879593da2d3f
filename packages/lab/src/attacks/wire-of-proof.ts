import { prio3Count } from "@lethe/core/two-server";

/** A point of a line over Prio3Count's field: where a proof was queried, and the value of its wire there. */
export interface WirePoint {
  readonly x: bigint;
  readonly y: bigint;
}

/** Of Field64, draft-irtf-cfrg-vdaf §6.1. */
const MODULUS = 2n ** 64n - 2n ** 32n + 1n;
/** A verifier share: what the circuit gives, its two wires, their product. */
const ELEMENT_BYTES = 8;
const WIRE_AT = 1;

const modulo = (value: bigint): bigint => ((value % MODULUS) + MODULUS) % MODULUS;

/** The wire that the verifiers of both servers' halves add up to; of a report's first bit. */
export function wireIn(verifiers: readonly Uint8Array[]): bigint {
  return modulo(verifiers.reduce((sum, verifier) => sum + readElement(verifier, WIRE_AT), 0n));
}

/**
 * Where the servers, who have the verify key, query the sharings of a report. A wire is the line through its seed at 1
 * and the measurement at −1; so this one, of a share with seed 2 and measurement 0, is 1 + X.
 */
export function queryPoint(verifyKey: Uint8Array, ctx: Uint8Array, report: Uint8Array): bigint {
  const probe = new Uint8Array(6 * ELEMENT_BYTES);
  probe[ELEMENT_BYTES] = 2;
  const { verifierShare } = prio3Count.verifyInit(verifyKey, ctx, 0, report, new Uint8Array(), probe);
  return modulo(readElement(verifierShare, WIRE_AT) - 1n);
}

/** The line through two points, at the place where a proof's wire is the measurement. */
export function measurementOn(p: WirePoint, q: WirePoint): bigint {
  const slope = (q.y - p.y) * inverse(q.x - p.x);
  return modulo(p.y + slope * (-1n - p.x));
}

function readElement(bytes: Uint8Array, index: number): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(index * ELEMENT_BYTES, true);
}

/** By Fermat: v^(p−2). */
function inverse(value: bigint): bigint {
  let [power, result] = [modulo(value), 1n];
  for (let exponent = MODULUS - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = modulo(result * power);
    power = modulo(power * power);
  }
  return result;
}
