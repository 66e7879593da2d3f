import { isSameBytes, join, split } from "../bytes.ts";
import { deriveDevicePublicKey, deriveDeviceSecretKey } from "../encryption/device-key.ts";
import { createElGamalKeys } from "../encryption/elgamal/elgamal.ts";
import type { RistrettoGroup } from "../encryption/elgamal/group.ts";
import { nobleGroup } from "../encryption/elgamal/noble-group.ts";
import type { Secret } from "../encryption/secret.ts";
import { LetheError, requireLength } from "../error.ts";
import type { Randomness } from "../randomness/index.ts";
import { KEYS } from "../sharing/share-keys.ts";
import {
  HALF_BYTES,
  type OpenedShare,
  openShare,
  type ServerRole,
  sharingContext,
  type TaskWindow,
} from "../sharing/shared-bit.ts";
import { type OpenedSlot, openSlot, SLOT_HALF_BYTES } from "../sharing/shared-slot.ts";
import { answersIn, serverNoiseIn, type TwoServerStatistic } from "../statistic/two-server.ts";
import { createAggregateShare } from "./aggregate-share.ts";
import { prepareSlots, verdictOnSlots } from "./slot-verification.ts";
import { statisticHalfBytes } from "./task-layout.ts";
import { isValidReport, type PreparedHalf, prepareHalf } from "./verification.ts";
import { type HalfBinding, REPORT_ID_BYTES, type Unwrapping, unwrapHalf } from "./wrapping.ts";

/** The keys under which a device encrypts for one of the servers: two for the leader's shares, one for the helper's. */
export function issueShareKeys(
  role: ServerRole,
  master: Secret<Uint8Array>,
  { task, window }: TaskWindow,
  device: Uint8Array,
  group: RistrettoGroup = nobleGroup,
): Uint8Array {
  const scheme = createElGamalKeys(group);
  const keys = Array.from({ length: KEYS[role] }, (_, index) =>
    deriveDevicePublicKey(scheme, master, { task, window, device, role, index }),
  );
  return join(keys);
}

/** What one server holds for a window. */
export interface AggregatorOptions extends TaskWindow {
  readonly role: ServerRole;
  /** In the order in which their bits are in a report. */
  readonly statistics: readonly TwoServerStatistic[];
  readonly master: Secret<Uint8Array>;
  readonly wrapping: Unwrapping;
  /** The same at both servers, and unknown to devices. */
  readonly verifyKey: Uint8Array;
  readonly random: Randomness;
  /** What opens shares; noble's if absent. */
  readonly group?: RistrettoGroup;
}

/**
 * For a server that opens reports elsewhere, in worker threads, and keeps what it counted in a database: the aggregator
 * resumes from there. Before such a server sends a verifier, it stores `unfinished()` and the prepared reports in one
 * transaction.
 */
export interface ResumedAggregatorOptions extends Pick<AggregatorOptions, "role" | "statistics" | "random"> {
  /** What `prepareReport` returned for this half. */
  prepare(device: Uint8Array, report: Uint8Array, wrapped: Uint8Array): PreparedHalf | Promise<PreparedHalf>;
  /** What `unfinished()` returned last; undefined if nothing was counted. */
  readonly stored?: Uint8Array | undefined;
  /** The report of this device that was counted before, if there is one. */
  known?(device: Uint8Array): KnownReport | undefined;
}

/** A report that this server has queried before. */
export interface KnownReport {
  /** Whether these are the same bytes. */
  isSame(report: Uint8Array, wrapped: Uint8Array): boolean;
  readonly verifier: Uint8Array;
}

/**
 * One of the two servers, for one window. It opens and queries a device's report once: the same bytes again get the
 * same answer, others are refused, because two queries of one sharing at different points reveal the bit.
 */
export interface Aggregator {
  /**
   * The verifier for the other server. A half that cannot be opened gets one, too, which makes the report invalid at
   * both servers.
   */
  prepare(device: Uint8Array, report: Uint8Array, wrapped: Uint8Array): Promise<Uint8Array>;
  /**
   * Counts the report, or "no event" if it is invalid, once. Nobody but the servers may learn whether it is valid. A
   * `known` report was counted before, and is refused here.
   */
  conclude(device: Uint8Array, otherVerifier: Uint8Array): boolean;
  /** This server's share of the sums so far, without noise: for storing, never for publishing. */
  unfinished(): Uint8Array;
  /** This server's share of the sums, with its noise. Afterwards nothing more is counted. */
  close(): Uint8Array;
}

const DEVICE_BYTES = 16;

interface Received extends Pick<KnownReport, "isSame"> {
  readonly preparing: Promise<PreparedHalf>;
  prepared?: PreparedHalf;
  valid?: boolean;
}

/**
 * The only implementation of what a server of two does with reports: the once-only query, the verdict, the draw on "no
 * event", the sum, and the noise at the end. With `AggregatorOptions` it keeps all reports in memory; a server with a
 * database resumes it.
 */
export function createAggregator(options: AggregatorOptions | ResumedAggregatorOptions): Aggregator {
  const { role, statistics, random } = options;
  const { prepare: prepareOnce, stored, known } = "prepare" in options ? options : inMemory(options);
  const received = new Map<string, Received>();
  const aggregate = createAggregateShare(answersIn(statistics), stored);
  let closed: Uint8Array | undefined;
  const requireOpen = (): void => {
    if (closed) throw new LetheError("window-closed", "this window's shares are added up: nothing more is counted");
  };
  const requireSame = (before: Pick<KnownReport, "isSame">, report: Uint8Array, wrapped: Uint8Array): void => {
    if (before.isSame(report, wrapped)) return;
    throw new LetheError("report-differs", "this device has sent another report before: only the first one is opened");
  };

  async function prepare(device: Uint8Array, report: Uint8Array, wrapped: Uint8Array): Promise<Uint8Array> {
    const counted = known?.(device);
    if (counted) {
      requireSame(counted, report, wrapped);
      return counted.verifier;
    }
    const before = received.get(device.join());
    if (before) {
      requireSame(before, report, wrapped);
      return (await before.preparing).verifier;
    }
    requireOpen();
    requireLength("a device's id", device, DEVICE_BYTES);
    requireLength("a report's id", report, REPORT_ID_BYTES);
    // Noted before anything is opened: another report of this device that comes meanwhile is refused.
    const [ownDevice, ownReport, ownHalf] = [device.slice(), report.slice(), wrapped.slice()];
    const noted: Received = {
      isSame: (id, half) => isSameBytes(id, ownReport) && isSameBytes(half, ownHalf),
      preparing: Promise.resolve(prepareOnce(ownDevice, ownReport, ownHalf)),
    };
    received.set(device.join(), noted);
    noted.prepared = await noted.preparing;
    return noted.prepared.verifier;
  }

  function conclude(device: Uint8Array, otherVerifier: Uint8Array): boolean {
    const noted = received.get(device.join());
    if (!noted?.prepared) throw new LetheError("unknown-device", "no report of this device was prepared");
    if (noted.valid !== undefined) return noted.valid;
    requireOpen();
    noted.valid = isInExponent(statistics)
      ? concludeSlots(noted.prepared, otherVerifier)
      : concludeBits(noted.prepared, otherVerifier);
    return noted.valid;
  }

  /** Both servers add the same, whether the report is valid or not. */
  function concludeSlots(prepared: PreparedHalf, otherVerifier: Uint8Array): boolean {
    const { valid, share } = verdictOnSlots(statistics, prepared, otherVerifier);
    aggregate.add(share);
    return valid;
  }

  function concludeBits({ verifier, outShare }: PreparedHalf, otherVerifier: Uint8Array): boolean {
    const valid =
      role === "leader"
        ? isValidReport(statistics, verifier, otherVerifier)
        : isValidReport(statistics, otherVerifier, verifier);
    // Drawn whether it is needed or not, so that the time reveals nothing. Only the leader adds it: the helper's share
    // of it is zero.
    const noEvent = statistics.flatMap(({ onNoEvent }) => onNoEvent(random));
    if (valid) aggregate.add(outShare);
    else if (role === "leader") aggregate.addConstant(noEvent);
    return valid;
  }

  function unfinished(): Uint8Array {
    requireOpen();
    return aggregate.encode();
  }

  function close(): Uint8Array {
    if (!closed) {
      aggregate.addNoise(serverNoiseIn(statistics), random);
      closed = aggregate.encode();
    }
    return closed.slice();
  }

  return { prepare, conclude, unfinished, close };
}

function inMemory(options: AggregatorOptions): ResumedAggregatorOptions {
  return { ...options, prepare: (device, report, wrapped) => prepareReport(options, { device, report }, wrapped) };
}

/** Opens a server's half of a report and makes its one query; the same half again gives the same. */
export async function prepareReport(
  {
    role,
    statistics,
    master,
    wrapping,
    verifyKey,
    task,
    window,
    group = nobleGroup,
  }: Omit<AggregatorOptions, "random">,
  { device, report }: Pick<HalfBinding, "device" | "report">,
  wrapped: Uint8Array,
): Promise<PreparedHalf> {
  const at = { task, window };
  const half = await unwrapHalf(wrapping, { ...at, device, report, role }, wrapped);
  const bytes = statistics.reduce((sum, statistic) => sum + statisticHalfBytes(statistic, role), 0);
  const whole = half?.length === bytes ? half : undefined;
  const context = { role, verifyKey, ctx: sharingContext(at) };
  if (isInExponent(statistics)) {
    const opened = whole ? openSlots(role, master, at, device, whole, group) : [];
    return prepareSlots(statistics, context, { device, report }, opened, group);
  }
  return prepareHalf(statistics, context, report, whole ? openShares(role, master, at, device, whole, group) : []);
}

/** Whether the statistics of a task keep slots shared in the exponent: all of them do, or none. */
function isInExponent(statistics: readonly TwoServerStatistic[]): boolean {
  const count = statistics.filter(({ collusion }) => collusion).length;
  if (count === 0) return false;
  if (count === statistics.length) return true;
  throw new RangeError("collusion is that of a task: all of its statistics have it, or none");
}

/** What one server opens of its halves of slots, of a report or of a captured state. */
export function openSlots(
  role: ServerRole,
  master: Secret<Uint8Array>,
  at: TaskWindow,
  device: Uint8Array,
  halves: Uint8Array,
  group: RistrettoGroup = nobleGroup,
): OpenedSlot[] {
  const scheme = createElGamalKeys(group);
  const key = deriveDeviceSecretKey(scheme, master, { ...at, device, role, index: 0 });
  try {
    return split(halves, halves.length / SLOT_HALF_BYTES).map((half) => openSlot(key, half, group));
  } finally {
    key.reveal().fill(0);
  }
}

/** A server's shares of all bits of a report. */
function openShares(
  role: ServerRole,
  master: Secret<Uint8Array>,
  { task, window }: TaskWindow,
  device: Uint8Array,
  half: Uint8Array,
  group: RistrettoGroup,
): OpenedShare[] {
  const scheme = createElGamalKeys(group);
  const keys = Array.from({ length: KEYS[role] }, (_, index) =>
    deriveDeviceSecretKey(scheme, master, { task, window, device, role, index }),
  );
  try {
    return split(half, half.length / HALF_BYTES[role]).map((bit) => openShare(role, keys, bit, group));
  } finally {
    for (const key of keys) key.reveal().fill(0);
  }
}
