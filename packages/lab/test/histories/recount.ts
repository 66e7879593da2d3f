import { type Secret, secret } from "@lethe/core/encryption";
import { decodeReport, keyContextOf, layoutOf, manifestHash, parseManifest, type Release } from "@lethe/core/message";
import { type Randomness, randomnessFrom } from "@lethe/core/randomness";
import {
  addAggregateShares,
  createAggregator,
  decodeTwoServerReport,
  parseSignedShare,
  parseWindowShare,
  type ServerRole,
  twoServerLayoutOf,
} from "@lethe/core/two-server";
import { verifyKeyOf } from "../../../server/dist/between/verify-key.js";
import { deriveNodeWrappingKeys } from "../../../server/dist/tally/hpke.js";

/** A report as a database had it when its window ended. */
export interface StoredReport {
  readonly device: Uint8Array;
  readonly body: Uint8Array;
  readonly group: number;
}

/** A window that ended, with what its result was made from. */
export interface Ended {
  readonly task: string;
  readonly window: number;
  readonly manifest: string;
  readonly reports: readonly StoredReport[];
}

/** What one report says: the names of the metrics that happened; undefined if the answers are noisy. */
export interface Recount {
  /** What the published document must have, as text. */
  readonly expected: string;
  readonly published: string;
}

const random: Randomness = randomnessFrom(globalThis.crypto);

/** Opens every report of a window with the window's secret, and compares what they add up to with the release. */
export function recountRelease(ended: Ended, windowSecret: Uint8Array, document: string): Recount {
  const release = JSON.parse(document) as Release;
  const manifest = parseManifest(ended.manifest);
  const layout = layoutOf(manifest);
  const hash = manifestHash(ended.manifest);
  const master = secret(windowSecret);
  const groups = manifest.groups ?? [""];
  const answers = groups.map(() => layout.map(() => [] as number[]));
  const received = groups.map(() => 0);
  for (const { device, body, group } of ended.reports) {
    const parts = decodeReport(layout, hash, body);
    received[group] = (received[group] ?? 0) + 1;
    for (const [i, part] of layout.entries()) {
      const context = keyContextOf(part, { task: ended.task, window: ended.window, device, role: "tally" });
      const opened = part.server.open(master, context, parts[i] as Uint8Array, random);
      const sums = answers[group]?.[i] as number[];
      for (const [j, answer] of opened.answers.entries()) sums[j] = (sums[j] ?? 0) + answer;
    }
  }
  const estimatesOf = (sums: readonly (readonly number[])[], count: number): unknown =>
    layout.flatMap((part, i) =>
      part.server.estimate(sums[i] ?? [], count).map((figure) => ("estimate" in figure ? figure.estimate : undefined)),
    );
  const figuresOf = (metrics: Release["metrics"]): unknown =>
    metrics.map((metric) => ("estimate" in metric ? metric.estimate : undefined));
  const total = layout.map((_, i) =>
    answers.reduce<number[]>(
      (sums, each) =>
        (each[i] ?? []).map((answer, j) => answer + (sums[j] ?? 0)).concat(sums.slice(each[i]?.length ?? 0)),
      [],
    ),
  );
  const isReleased = (count: number): boolean => count >= manifest.minimumDevices;
  // A total is published over published groups only, so the groups speak for themselves.
  if (!manifest.groups) {
    return {
      expected: JSON.stringify([ended.reports.length, estimatesOf(total, ended.reports.length)]),
      published: JSON.stringify([release.received, figuresOf(release.metrics)]),
    };
  }
  return {
    expected: JSON.stringify([
      ended.reports.length,
      received.map((count, i) => [count, isReleased(count) && estimatesOf(answers[i] ?? [], count)]),
    ]),
    published: JSON.stringify([
      release.received,
      release.groups?.map((group) => [group.received, group.status === "released" && figuresOf(group.metrics)]),
    ]),
  };
}

/** The answers of reports of two servers, opened with both secrets, group by group. */
export async function recountShares(
  ended: Ended,
  secrets: Readonly<Record<ServerRole, Uint8Array>>,
  peerSecret: string,
  documents: Readonly<Record<ServerRole, string>>,
): Promise<Recount> {
  const manifest = parseManifest(ended.manifest);
  const layout = twoServerLayoutOf(manifest);
  const hash = manifestHash(ended.manifest);
  const at = { task: ended.task, window: ended.window };
  const verifyKey = verifyKeyOf(peerSecret, ended.task, ended.window);
  const aggregatorOf = (role: ServerRole) => {
    const master: Secret<Uint8Array> = secret(secrets[role]);
    const wrapping = deriveNodeWrappingKeys(master, { ...at, role });
    const statistics = layout.map(({ statistic }) => statistic);
    return createAggregator({ ...at, role, statistics, master, wrapping, verifyKey, random });
  };
  const groups = manifest.groups ?? [""];
  const sums: unknown[] = [];
  const received: number[] = [];
  for (const group of groups.keys()) {
    const [leader, helper] = [aggregatorOf("leader"), aggregatorOf("helper")];
    const own = ended.reports.filter((report) => report.group === group);
    received.push(own.length);
    for (const { device, body } of own) {
      const report = decodeTwoServerReport(layout, hash, body);
      const fromLeader = await leader.prepare(device, report.reportId, report.leader);
      const fromHelper = await helper.prepare(device, report.reportId, report.helper);
      helper.conclude(device, fromLeader);
      leader.conclude(device, fromHelper);
    }
    if (own.length >= manifest.minimumDevices || !manifest.groups) {
      sums.push(...addAggregateShares(leader.close(), helper.close()));
    }
  }
  const [leader, helper] = (["leader", "helper"] as const).map((role) =>
    parseWindowShare(parseSignedShare(documents[role]).document),
  );
  if (!leader || !helper) throw new TypeError("there are two shares");
  return {
    expected: JSON.stringify([ended.reports.length, ended.reports.length, received, sums]),
    published: JSON.stringify([
      leader.received,
      helper.received,
      leader.groups?.map((group) => group.received) ?? [leader.received],
      [...addAggregateShares(leader.share, helper.share)],
    ]),
  };
}
