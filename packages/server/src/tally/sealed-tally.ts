import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { deriveTallyKey, type Secret } from "@lethe/core/encryption";
import type { Task } from "@lethe/core/message";
import { mergeAggregateShares } from "@lethe/core/two-server";

/** The groups of a task, by their places. A task without groups is one group. */
export function groupsIn({ groups = [""] }: Pick<Task, "groups">): readonly string[] {
  return groups;
}

/** Everything that was counted in a window of one server. */
export interface SumsTally {
  readonly kind: "sums";
  /** Answers, added up: for each group one list per statistic; none before the first report. */
  readonly sums: readonly (readonly number[])[];
  /** How many reports of each group are in it; none before the first report. */
  readonly received: readonly number[];
  /** The number of invalid reports, plus the noise that was drawn when the window was made. */
  readonly invalid: number;
}

/** Everything that one of two servers counted in a window. */
export interface ShareTally {
  readonly kind: "share";
  /** The server's shares of all sums, one for each group, as core's aggregator stores them; undefined if none is. */
  readonly shares: readonly (Uint8Array | undefined)[];
  /** As in the other kind. */
  readonly received: readonly number[];
  /** As in the other kind. */
  readonly invalid: number;
}

/** What a window has counted: sums, or one server's share of them. */
export type WindowTally = SumsTally | ShareTally;

/** The kind of a window's tally, which the task's protocol decides. */
export type TallyKind = WindowTally["kind"];

/** The tally of a kind. */
export type TallyOf<Kind extends TallyKind> = Extract<WindowTally, { kind: Kind }>;

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The text under the seal. It has the same form for both kinds: the bytes of a group's share are a list. Tallies of
 * before there were groups lack `received`.
 */
interface SealedText {
  readonly sums: readonly (readonly number[])[];
  readonly received?: readonly number[];
  readonly invalid: number;
}

/** The tally of a shard in which nothing was counted. */
export function emptyTally<Kind extends TallyKind>(kind: Kind): TallyOf<Kind> {
  return tallyOf(kind, { sums: [], invalid: 0 }) as TallyOf<Kind>;
}

/** The tally of what the shards have counted together. */
export function mergeTallies<Kind extends TallyKind>(kind: Kind, tallies: readonly TallyOf<Kind>[]): TallyOf<Kind> {
  return tallies.reduce<WindowTally>(merge, emptyTally(kind)) as TallyOf<Kind>;
}

function merge(one: WindowTally, other: WindowTally): WindowTally {
  const received = addUp(one.received, other.received);
  const invalid = one.invalid + other.invalid;
  if (one.kind === "sums" && other.kind === "sums") {
    return { kind: "sums", sums: atEach<readonly number[]>(one.sums, other.sums, addUp), received, invalid };
  }
  if (one.kind === "share" && other.kind === "share") {
    return {
      kind: "share",
      shares: atEach<Uint8Array | undefined>(one.shares, other.shares, mergeShares),
      received,
      invalid,
    };
  }
  throw new TypeError("a window has tallies of one kind");
}

function mergeShares(one: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array | undefined {
  return one && other ? mergeAggregateShares(one, other) : (one ?? other);
}

/** Combines the entries at the same places; one list may be shorter. */
function atEach<A>(one: readonly A[], other: readonly A[], combine: (a?: A, b?: A) => A): A[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, i) => combine(one[i], other[i]));
}

/** The tally that a window of any task begins with; `noise` is what its count of invalid reports begins with. */
export function sealEmptyTally(windowSecret: Secret<Uint8Array>, noise: number): Uint8Array {
  return sealTally(windowSecret, { kind: "sums", sums: [], received: [], invalid: noise });
}

/**
 * Seals a tally for the database. Each batch leaves the version before it in the database's files and logs for a while;
 * the difference of two versions would show the answers of a few reports, and how many of them were invalid, without
 * noise. The key derives from the window's secret: once that is destroyed nobody can open the tally, and before that
 * only those who could open the reports anyway.
 */
export function sealTally(windowSecret: Secret<Uint8Array>, tally: WindowTally): Uint8Array {
  const text: SealedText = { sums: sumsOf(tally), received: tally.received, invalid: tally.invalid };
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, deriveTallyKey(windowSecret).reveal(), nonce);
  return Buffer.concat([nonce, cipher.update(JSON.stringify(text), "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a tally of this kind; throws if it was sealed under another secret, or changed. */
export function openTally<Kind extends TallyKind>(
  windowSecret: Secret<Uint8Array>,
  sealed: Uint8Array,
  kind: Kind,
): TallyOf<Kind> {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, deriveTallyKey(windowSecret).reveal(), sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(end));
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
  return tallyOf(kind, JSON.parse(text.toString("utf8")) as SealedText) as TallyOf<Kind>;
}

function sumsOf(tally: WindowTally): SealedText["sums"] {
  if (tally.kind === "sums") return tally.sums;
  return tally.shares.map((share) => [...(share ?? [])]);
}

function tallyOf(kind: TallyKind, { sums, received = [], invalid }: SealedText): WindowTally {
  if (kind === "sums") return { kind, sums, received, invalid };
  const shares = sums.map((bytes) => (bytes.length > 0 ? Uint8Array.from(bytes) : undefined));
  return { kind, shares, received, invalid };
}

/** Numbers at the same places, added up; a list may be shorter, and ends in zeros then. */
export function addUp(one: readonly number[] = [], other: readonly number[] = []): number[] {
  return atEach(one, other, (a = 0, b = 0) => a + b);
}
