import { join, split } from "../bytes.ts";
import type { RistrettoGroup } from "../encryption/elgamal/group.ts";
import { BASE, IDENTITY } from "../encryption/elgamal/ristretto.ts";
import { requireLength } from "../error.ts";
import { fastXof } from "../fast-xof.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { MISSING_SLOT, type OpenedSlot } from "../sharing/shared-slot.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import { asciiBytes } from "../xof.ts";
import { halfSharesOf } from "./aggregate-share.ts";
import type { PreparedHalf, VerifyContext } from "./verification.ts";

/*
 * How the servers check slots that are shared in the exponent. The leader has opened w·G of every slot, the helper
 * (x − w)·G. A vector of slots is good if its x are one of a few: exactly one 1 of categories, 0 or 1 of an occurrence.
 * For each of these, a server knows from its own elements what the other's must be. So each sends a hash over its
 * elements of a vector, and compares what it gets with the hashes that it expects: the one that is equal is the answer.
 *
 * Equal hashes mean equal elements, and w·G + (x − w)·G = x·G decides x modulo the order of the group: no other vector
 * passes, whatever the device sends. A server learns of a good vector which one it is, the device's noised answer, and
 * nothing more: the other's elements follow from its own and the answer. Of a vector that is not good it learns that, and
 * whether it is one that it can guess as a whole. Hashes are keyed with the servers' secret, so that nobody else can
 * guess, and bound to the report, so that none fits another.
 */

/** How the slots of a statistic are checked and added up. */
type Layout = Pick<TwoServerStatistic, "answerOf" | "answers" | "isOneHot" | "collusion">;

const HASH_BYTES = 32;
const OTHER: Readonly<Record<ServerRole, ServerRole>> = { leader: "helper", helper: "leader" };
const ZERO = IDENTITY.toBytes();
const ONE = BASE.toBytes();

/** Slots that are checked together: all of a statistic with categories, else each by itself. */
interface Vector {
  /** The first slot's place in the report. */
  readonly first: number;
  readonly length: number;
  /** What a good vector adds to the answers of the report, for every good one. */
  readonly answers: readonly (number | undefined)[];
  /** For every good vector the slot that holds 1. */
  readonly hot: readonly (number | undefined)[];
}

/** Bytes of the hashes of one statistic. */
export function slotVerifierBytes({ answerOf, isOneHot }: Layout): number {
  return HASH_BYTES * (isOneHot ? 1 : answerOf.length);
}

function vectorsOf(statistics: readonly Layout[]): Vector[] {
  let [first, firstAnswer] = [0, 0];
  return statistics.flatMap(({ answerOf, answers, isOneHot }) => {
    const [slot, answer] = [first, firstAnswer];
    first += answerOf.length;
    firstAnswer += answers;
    const places = answerOf.map((each) => answer + each);
    if (isOneHot) return [{ first: slot, length: answerOf.length, answers: places, hot: [...answerOf.keys()] }];
    return places.map((place, i) => ({ first: slot + i, length: 1, answers: [undefined, place], hot: [undefined, 0] }));
  });
}

/** Which report a server has opened. */
export interface OpenedReportOf {
  readonly device: Uint8Array;
  readonly report: Uint8Array;
}

/**
 * What a server sends and keeps of a report whose slots it has opened. `outShare` is what counts if the report is not
 * good: both servers draw the same answers on "no event", from their common secret, so that both count the same.
 */
export function prepareSlots(
  statistics: readonly (Layout & Pick<TwoServerStatistic, "onNoEvent">)[],
  context: VerifyContext,
  of: OpenedReportOf,
  opened: readonly OpenedSlot[],
  group: RistrettoGroup,
): PreparedHalf {
  const vectors = vectorsOf(statistics);
  const slots = Array.from({ length: statistics.reduce((sum, { answerOf }) => sum + answerOf.length, 0) }, (_, i) => {
    const { element, intact } = opened[i] ?? MISSING_SLOT;
    return { element, intact, ifZero: group.subtract(ZERO, element), ifOne: group.subtract(ONE, element) };
  });
  const slotsIn = ({ first, length }: Vector) => slots.slice(first, first + length);
  const { role } = context;
  const hashes = vectors.map((vector, i) =>
    hashOf(
      context,
      of,
      role,
      i,
      slotsIn(vector).map(({ element }) => element),
    ),
  );
  const expected = vectors.flatMap((vector, i) =>
    vector.hot.map((hot) =>
      hashOf(
        context,
        of,
        OTHER[role],
        i,
        slotsIn(vector).map(({ ifZero, ifOne }, slot) => (slot === hot ? ifOne : ifZero)),
      ),
    ),
  );
  const intact = slots.reduce((others, slot) => slot.intact && others, true);
  const draw = fastXof("lethe no event", context.verifyKey, context.ctx, of.device, of.report);
  const noEvent = statistics.flatMap(({ onNoEvent }) => onNoEvent(draw));
  draw.destroy();
  return {
    verifier: join([...hashes, Uint8Array.of(Number(intact))]),
    outShare: halfSharesOf(noEvent),
    expected: join(expected),
  };
}

/** Looks at all bytes. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.reduce((different, byte, i) => different | (byte ^ (b[i] as number)), 0) === 0;
}

/** Both servers' secret keys it, and it is bound to the report, to who has opened the elements, and to their place. */
function hashOf(
  { verifyKey, ctx }: VerifyContext,
  { device, report }: OpenedReportOf,
  role: ServerRole,
  vector: number,
  elements: readonly Uint8Array[],
): Uint8Array {
  const place = asciiBytes(`${role} ${vector}`);
  const stream = fastXof("lethe opened slots", verifyKey, ctx, device, report, place, ...elements);
  const hash = new Uint8Array(HASH_BYTES);
  stream(hash);
  stream.destroy();
  return hash;
}

/** The verdict about a report, and this server's share of the answers that count. */
export interface SlotVerdict {
  readonly valid: boolean;
  readonly share: Uint8Array;
}

/**
 * Compares the other server's hashes with those that are expected: all of them, whichever fails. Both servers find the
 * same.
 */
export function verdictOnSlots(
  statistics: readonly Layout[],
  { verifier, outShare, expected = new Uint8Array() }: PreparedHalf,
  other: Uint8Array,
): SlotVerdict {
  requireLength("a verifier", other, verifier.length);
  const vectors = vectorsOf(statistics);
  const hashes = split(other.subarray(0, -1), vectors.length);
  const answers = new Array<number>(statistics.reduce((sum, each) => sum + each.answers, 0)).fill(0);
  let valid = verifier.at(-1) === 1 && other.at(-1) === 1;
  let at = 0;
  for (const [i, vector] of vectors.entries()) {
    let isGood = false;
    for (const answer of vector.answers) {
      at += HASH_BYTES;
      const isThis = isEqual(hashes[i] as Uint8Array, expected.subarray(at - HASH_BYTES, at));
      isGood = isThis || isGood;
      if (answer !== undefined) answers[answer] = (answers[answer] as number) + Number(isThis);
    }
    valid = isGood && valid;
  }
  const share = halfSharesOf(answers);
  return { valid, share: valid ? share : outShare };
}
