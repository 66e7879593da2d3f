import { createHash, randomBytes, sign } from "node:crypto";
import { secret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { encodeManifest, encodeSignedManifest, type Task, windowAt } from "@lethe/core/message";
import { decodeTwoServerReport, deriveWrappingKeys, type PreparedHalf, prepareReport } from "@lethe/core/two-server";
import { expect } from "vitest";
import { digestOf, groupByteOf, type JobEntry, jobSizesOf } from "../dist/between/messages.js";
import { createHelperClient, type Helper, type HelperWindow } from "../dist/leader/client.js";
import { reportLayoutOf, type TwoServerTask } from "../dist/storage/tasks.js";
import { openKeyFile } from "../dist/tally/key-file.js";
import { issueShares, prepareShares } from "../dist/tally/shares.js";
import type { TestService } from "./service.ts";
import { agree, knownManifest, PEER_SECRET, type SharedDevice, type SharedTask, sharedReport } from "./two-servers.ts";

/** A program that has the leader's keys and secrets, and asks the helper whatever it likes. */
export interface OwnLeader {
  readonly task: SharedTask;
  readonly version: TwoServerTask;
  readonly window: number;
  readonly helper: Helper;
  /** What a leader must say about the window so that the helper answers. */
  helperWindow(): HelperWindow;
  /** A device with both servers' keys. */
  enrol(): Promise<SharedDevice>;
  /** A device's report as an honest leader would pass it on; in this group, if the task has groups. */
  entry(
    device: SharedDevice,
    events?: readonly string[],
    report?: Uint8Array,
    group?: number,
  ): Promise<JobEntry & { leader: PreparedHalf }>;
  ask(...entries: readonly JobEntry[]): Promise<Uint8Array[]>;
  /** What the helper answers about a report of which it can open nothing. */
  nothingFoundIn(entry: JobEntry): Promise<Uint8Array>;
  finish(...counted: readonly JobEntry[]): Promise<void>;
}

export async function leadAlone(
  helper: TestService,
  leaderKeyFile: string,
  wanted: Task,
  secretOfBoth: string = PEER_SECRET,
): Promise<OwnLeader> {
  expect((await agree({ helper }, wanted)).status).toBe(200);
  const keyFile = openKeyFile(leaderKeyFile);
  keyFile.close();
  const now = (): number => helper.clock() / 1000;
  const window = windowAt(wanted, now());
  const manifest = encodeManifest({
    ...wanted,
    fromWindow: window,
    servers: [
      { role: "leader", url: "http://127.0.0.1:1", key: keyFile.operatorKey },
      { role: "helper", url: helper.url, key: helper.operatorKey },
    ],
  });
  const signed = { manifest, signature: new Uint8Array(sign(null, Buffer.from(manifest), keyFile.signingKey)) };
  const task = knownManifest(encodeSignedManifest(signed));
  const { layout, reportBytes } = reportLayoutOf(wanted) as TwoServerTask;
  const version: TwoServerTask = {
    ...{ id: 0, mode: "two-server", signed, layout, reportBytes },
    manifest: task.manifest,
    hash: task.hash,
  };
  const client = createHelperClient({ url: helper.url, secret: secretOfBoth, operatorKey: helper.operatorKey }, now);
  await client.propose(signed, wanted.task, wanted.version);

  const windowSecret = new Uint8Array(randomBytes(32));
  const keys = (): { manifest: string; window: number; windowSecret: Uint8Array } => ({
    manifest,
    window,
    windowSecret: windowSecret.slice(),
  });
  const statistics = task.layout.map(({ statistic }) => statistic);
  const sizes = jobSizesOf(version);
  const verifyKey = client.verifyKey(wanted.task, window);
  let helperCommitment: Uint8Array | null = null;
  const helperWindow = (): HelperWindow => ({ number: window, helperCommitment });
  return {
    task,
    version,
    window,
    helper: client,
    helperWindow,
    enrol: async () => {
      const [own] = await issueShares(keys(), "leader", 1, keyFile.signingKey);
      if (!own) throw new TypeError("there are no keys");
      const issued = await client.issueKeys(version, helperWindow(), [own.device]);
      helperCommitment = issued.helperCommitment;
      const theirs = issued.keys[0]?.publicKeys as Uint8Array;
      return { id: own.device, token: "", keys: { leader: own.publicKeys, helper: theirs } };
    },
    entry: async (device, events = [], id, group = 0) => {
      const body = await sharedReport(task, window, device, events, id);
      const { reportId: report, leader, helper: half } = decodeTwoServerReport(task.layout, task.hash, body);
      const [prepared] = await prepareShares(keys(), "leader", verifyKey, [
        { device: device.id, report, half: leader },
      ]);
      if (!prepared) throw new TypeError("nothing was prepared");
      const groupByte = groupByteOf(version, group);
      return { device: device.id, groupByte, report, half, leaderVerifier: prepared.verifier, leader: prepared };
    },
    ask: (...entries) => client.verify(version, helperWindow(), entries, sizes),
    nothingFoundIn: async ({ device, report }) => {
      const master = secret(new Uint8Array(randomBytes(32)));
      const at = { task: wanted.task, window };
      const wrapping = await deriveWrappingKeys(master, { ...at, role: "helper" });
      const server = { ...at, role: "helper", statistics, master, wrapping, verifyKey } as const;
      return (await prepareReport(server, { device, report }, new Uint8Array(sizes.half))).verifier;
    },
    finish: (...counted) => {
      const ordered = counted.toSorted((a, b) => Buffer.compare(a.device, b.device));
      const reports = new Uint8Array(hashOf(ordered.map(digestOf)));
      return client.finish(version, helperWindow(), { received: counted.length, reports });
    },
  };
}

function hashOf(digests: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const digest of digests) hash.update(digest);
  return hash.digest();
}

/** The name under which something is refused. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof LetheError) return error.code;
    throw error;
  }
  return "answered";
}
