import { join } from "../bytes.ts";
import { LetheError, requireLength } from "../error.ts";
import { prio3Count } from "../sharing/create-prio3-count.ts";
import { add, ELEMENT_BYTES, type Elements, isEqual, read, WORDS, write } from "../sharing/field64.ts";
import { AGGREGATOR, MISSING_SHARE, type OpenedShare, type ServerRole } from "../sharing/shared-bit.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import { slotVerifierBytes } from "./slot-verification.ts";

/** What is the same for all reports of a window at a server. */
export interface VerifyContext {
  readonly role: ServerRole;
  /** Both servers' secret, which no device may know, and the same for the whole window. */
  readonly verifyKey: Uint8Array;
  readonly ctx: Uint8Array;
}

/** What a server tells the other about a report, and what it keeps. */
export interface PreparedHalf {
  /** A verifier share for every bit, the share of their sum if one is checked, and whether all could be opened. */
  readonly verifier: Uint8Array;
  /** Added to the aggregate if the report is found valid; one element for every answer. */
  readonly outShare: Uint8Array;
  /**
   * Of slots shared in the exponent, what the other server's verifier can be, hash by hash; `outShare` is then added if
   * the report is found invalid.
   */
  readonly expected?: Uint8Array;
}

/** How the bits of a statistic are checked and added up. */
type Layout = Pick<TwoServerStatistic, "answerOf" | "answers" | "isOneHot" | "collusion">;

const VERIFIER_SHARE_BYTES = 32;
const NO_PUBLIC_SHARE = new Uint8Array();

/** The last byte says whether all shares could be opened. */
export function verifierBytes(statistics: readonly Layout[]): number {
  return statistics.reduce((sum, statistic) => sum + statisticVerifierBytes(statistic), 1);
}

function statisticVerifierBytes(statistic: Layout): number {
  const { answerOf, isOneHot, collusion } = statistic;
  if (collusion) return slotVerifierBytes(statistic);
  return answerOf.length * VERIFIER_SHARE_BYTES + (isOneHot ? ELEMENT_BYTES : 0);
}

/**
 * The one query that a server ever makes of a report's sharings: two at different points would tell the bits
 * (docs/threat-model.md). So all bits are queried at one point, which the report's id decides: an intruder who copies a
 * device's bit over another gets it queried at the same point again. `opened` has the shares of all statistics' bits,
 * one after another.
 */
export function prepareHalf(
  statistics: readonly Layout[],
  context: VerifyContext,
  report: Uint8Array,
  opened: readonly OpenedShare[],
): PreparedHalf {
  const verifiers: Uint8Array[] = [];
  const outShares: Uint8Array[] = [];
  const sum = new Uint32Array(WORDS);
  const share = new Uint32Array(WORDS);
  let intact = true;
  let bit = 0;
  for (const { answerOf, answers, isOneHot } of statistics) {
    const out = new Uint32Array(answers * WORDS);
    sum.fill(0);
    for (const answer of answerOf) {
      const queried = query(context, report, opened[bit] ?? MISSING_SHARE[context.role]);
      bit++;
      verifiers.push(queried.verifierShare);
      intact = queried.intact && intact;
      read(share, 0, queried.outShare, 0);
      add(out, answer * WORDS, out, answer * WORDS, share, 0);
      add(sum, 0, sum, 0, share, 0);
    }
    if (isOneHot) verifiers.push(bytesOf(sum));
    outShares.push(bytesOf(out));
  }
  return { verifier: join([...verifiers, Uint8Array.of(Number(intact))]), outShare: join(outShares) };
}

interface QueriedShare {
  readonly outShare: Uint8Array;
  readonly verifierShare: Uint8Array;
  readonly intact: boolean;
}

/** A share with an element that is not below the modulus is treated like one that could not be opened. */
function query({ role, verifyKey, ctx }: VerifyContext, nonce: Uint8Array, opened: OpenedShare): QueriedShare {
  const init = (share: Uint8Array): Omit<QueriedShare, "intact"> => {
    const { state, verifierShare } = prio3Count.verifyInit(
      verifyKey,
      ctx,
      AGGREGATOR[role],
      nonce,
      NO_PUBLIC_SHARE,
      share,
    );
    return { outShare: prio3Count.verifyNext(state, NO_MESSAGE), verifierShare };
  };
  try {
    return { ...init(opened.share), intact: opened.intact };
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    return { ...init(MISSING_SHARE[role].share), intact: false };
  }
}

/** Prio3Count's is empty. */
const NO_MESSAGE = new Uint8Array();

const ONE = Uint32Array.of(1, 0);

/**
 * Whether every shared value is a bit, and exactly one of them 1 where that is asked. All are looked at, whichever
 * fails. Both servers find the same.
 */
export function isValidReport(statistics: readonly Layout[], leader: Uint8Array, helper: Uint8Array): boolean {
  for (const verifier of [leader, helper]) requireLength("a verifier", verifier, verifierBytes(statistics));
  let valid = leader.at(-1) === 1 && helper.at(-1) === 1;
  let at = 0;
  const both = (length: number): Uint8Array[] => {
    at += length;
    return [leader, helper].map((verifier) => verifier.subarray(at - length, at));
  };
  for (const { answerOf, isOneHot } of statistics) {
    for (let i = 0; i < answerOf.length; i++) {
      const isBit = prio3Count.isProven(both(VERIFIER_SHARE_BYTES));
      valid = isBit && valid;
    }
    if (isOneHot) {
      const isOne = addUpToOne(both(ELEMENT_BYTES));
      valid = isOne && valid;
    }
  }
  return valid;
}

function addUpToOne(shares: readonly Uint8Array[]): boolean {
  const [sum, share] = [new Uint32Array(WORDS), new Uint32Array(WORDS)];
  for (const bytes of shares) {
    if (!read(share, 0, bytes, 0)) throw new LetheError("bad-encoding", "a share of a sum is no field element");
    add(sum, 0, sum, 0, share, 0);
  }
  return isEqual(sum, 0, ONE, 0);
}

function bytesOf(elements: Elements): Uint8Array {
  const bytes = new Uint8Array((elements.length / WORDS) * ELEMENT_BYTES);
  for (let i = 0; i < elements.length; i += WORDS) write(elements, i, bytes, 4 * i);
  return bytes;
}
