import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Enrolment,
  encodeBase64url,
  type Manifest,
  manifestHash,
  parseEnrolment,
  parseManifest,
  parseSignedManifest,
  type Task,
} from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import {
  decodeShareKeys,
  encodeTwoServerReport,
  sharingContext,
  twoServerLayoutOf,
  wrapReport,
} from "@lethe/core/two-server";
import { operatorKeyOf } from "@lethe/server";
import { inParallel } from "../parallel/in-parallel.ts";
import { countingRate, enrolAll, TASK as ONE_SERVER_TASK } from "./service-load.ts";
import { type ServiceProcess, startService, TOKEN } from "./start-service.ts";
import type { Measurement } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);
const PEER_SECRET = randomBytes(32).toString("base64url");

function taskOf(metrics: number): Task {
  const names = Array.from({ length: metrics }, (_, i) => `counter-${i}`);
  return {
    ...ONE_SERVER_TASK,
    task: `bench-${metrics}`,
    mode: "two-server",
    scheme: "elgamal",
    metrics: names.map((name) => ({ name, statistic: "occurrence", localEpsilon: 1 })),
  };
}

/**
 * How many reports a leader and a helper, two processes, verify and count per second, and how many bytes they exchange.
 * All reports are uploaded before: the helper gets no job until then.
 */
export async function benchTwoServerLoad(
  reports: Readonly<Record<1 | 20, number>>,
  report: (row: Measurement) => void,
): Promise<void> {
  const pair = await startPair(Math.max(...Object.values(reports)));
  try {
    let counted = 0;
    for (const metrics of [1, 20] as const) {
      const { perSecond, bytes } = await measure(pair, taskOf(metrics), reports[metrics], counted);
      counted += reports[metrics];
      const name = `two servers, ${metrics} counter${metrics === 1 ? "" : "s"}`;
      report({ name: `${name}: reports verified and counted, by both`, value: perSecond, unit: "1/s" });
      report({ name: `${name}: between the servers, per report`, value: bytes, unit: "bytes" });
    }
  } finally {
    await pair.close();
  }
}

interface Pair {
  readonly leader: ServiceProcess;
  readonly helper: ServiceProcess;
  readonly link: Link;
  close(): Promise<void>;
}

/** Each with one thread that opens reports, because in production each has its own machine. */
async function startPair(keysAhead: number): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-bench-"));
  const place = (name: string) => ({ data: join(folder, name), keyFile: join(folder, `${name}.keys`) });
  const [ofLeader, ofHelper] = [place("leader"), place("helper")];
  const [leaderKey, helperKey] = [ofLeader, ofHelper].map(({ keyFile }) => operatorKeyOf(keyFile, { create: true }));
  const shared = { threads: 1, keysAhead };
  const peer = (operatorKey = "") => ({ operatorKey, secret: PEER_SECRET });
  const helper = await startService({ role: "helper", ...ofHelper, ...shared, peer: peer(leaderKey) });
  const link = await startLink(helper.port);
  const url = `http://127.0.0.1:${link.port}`;
  const leader = await startService({ role: "leader", ...ofLeader, ...shared, peer: { ...peer(helperKey), url } });
  return {
    leader,
    helper,
    link,
    close: async () => {
      await leader.close();
      await helper.close();
      link.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function measure(
  { leader, helper, link }: Pair,
  task: Task,
  count: number,
  countedBefore: number,
): Promise<{ perSecond: number; bytes: number }> {
  await post(`${helper.url}/v1/agreements`, task);
  const text = parseSignedManifest(await post(`${leader.url}/v1/tasks`, task)).manifest;
  const manifest = parseManifest(text);
  const { window, answers } = await enrolAll([leader.port], manifest, count);
  const hash = manifestHash(text);
  const made: { window: number; enrolment: Enrolment; body: Uint8Array }[] = [];
  for (const enrolment of answers.map(parseEnrolment)) {
    made.push({ window, enrolment, body: await reportOf(manifest, hash, window, enrolment) });
  }
  // Keys for the next window are made in the meantime.
  const before = link.bytes();
  link.hold();
  await inParallel(count, (i) => upload(leader.url, task.task, made[i] as (typeof made)[number]), 64);
  link.release();
  const perSecond = await countingRate([leader.url], countedBefore, count);
  return { perSecond, bytes: (link.bytes() - before) / count };
}

interface Link {
  readonly port: number;
  /** Bytes between the servers so far, in both directions. */
  bytes(): number;
  /** Holds back what the leader sends, so that nothing is counted, until `release`. */
  hold(): void;
  release(): void;
  close(): void;
}

/** Forwards connections and counts the bytes in both directions. */
async function startLink(to: number): Promise<Link> {
  let bytes = 0;
  let isHeld = false;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const onward = connect(to, "127.0.0.1");
    for (const [from, into] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.on("data", (data) => {
        bytes += data.length;
      });
      from.on("error", () => into.destroy());
      from.pipe(into);
    }
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    if (isHeld) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    bytes: () => bytes,
    hold: () => {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release: () => {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => void server.close(),
  };
}

async function post(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return text;
}

/** The report of a device on which everything happened. */
async function reportOf(
  manifest: Manifest,
  hash: Uint8Array,
  window: number,
  { device, keys }: Enrolment,
): Promise<Uint8Array> {
  const [leader, helper] = keys.map(({ role, publicKeys }) => decodeShareKeys(role as "leader" | "helper", publicKeys));
  if (!leader || !helper) throw new TypeError("a device gets keys of both servers");
  const publicKey = Buffer.concat([leader.shareKeys, helper.shareKeys]);
  const at = { task: manifest.task, window };
  const bits = twoServerLayoutOf(manifest).map(({ metrics, statistic }) => {
    const recorder = statistic.device(sharingContext(at)).start(publicKey, random);
    for (const i of metrics.keys()) recorder.record(i);
    return recorder.seal(recorder.write() as Uint8Array);
  });
  const report = randomBytes(16);
  const wrappingKeys = { leader: leader.wrappingKey, helper: helper.wrappingKey };
  const halves = await wrapReport(wrappingKeys, { ...at, device, report }, Buffer.concat(bits), random);
  return encodeTwoServerReport(hash, { reportId: report, ...halves });
}

async function upload(
  url: string,
  task: string,
  { window, enrolment: { device, uploadToken }, body }: { window: number; enrolment: Enrolment; body: Uint8Array },
): Promise<void> {
  const { status } = await fetch(`${url}/v1/tasks/${task}/windows/${window}/reports/${encodeBase64url(device)}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${uploadToken}`, "content-type": "application/octet-stream" },
    body: body as Uint8Array<ArrayBuffer>,
  });
  if (status !== 201) throw new Error(`an upload was answered ${status}`);
}
