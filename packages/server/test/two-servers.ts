import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  encodeBase64url,
  type Manifest,
  manifestHash,
  parseEnrolment,
  parseManifest,
  parseSignedManifest,
  publicKeysSigningBytes,
  type Release,
  type Task,
} from "@lethe/core/message";
import { planTask } from "@lethe/core/plan";
import { randomnessFrom } from "@lethe/core/randomness";
import {
  assembleRelease,
  decodeShareKeys,
  encodeTwoServerReport,
  parseSignedShare,
  parseWindowShare,
  type ServerRole,
  sharingContext,
  splitSharedSlots,
  type TwoServerLayout,
  twoServerLayoutOf,
  type WindowShare,
  wrapReport,
} from "@lethe/core/two-server";
import type { ServiceOptions } from "@lethe/server";
import { type Logger, pino } from "pino";
import { expect } from "vitest";
import type { ServiceInternals } from "../dist/service.js";
import { openKeyFile } from "../dist/tally/key-file.js";
import { askToEnrol, inGroup, isSigned } from "./device.ts";
import { eventually } from "./eventually.ts";
import { ADMIN_TOKEN, startTestService, type TestService } from "./service.ts";

/** As pino numbers levels. */
const WARNING = 40;

export const PEER_SECRET = "a secret that leader and helper share, and nobody else";

/** Answers as good as exact, by both kinds of noise. */
export const SHARED_TASK: Task = {
  version: 1,
  task: "shared",
  tickSeconds: 60,
  ticks: 2,
  graceSeconds: 60,
  mode: "two-server",
  scheme: "elgamal",
  minimumDevices: 3,
  metrics: [
    { name: "happened", statistic: "occurrence", localEpsilon: 20 },
    { name: "counted", statistic: "occurrence", noise: "servers", sigma: 0.05 },
    { name: "times", statistic: "histogram", noise: "servers", edges: [0, 1, 2], sigma: 0.05 },
    { name: "average", statistic: "mean", limit: 3, sigma: 0.01 },
  ],
};

interface Reachable {
  readonly url: string;
}

/** Where both servers are, and their operator keys. */
export interface Servers {
  readonly leader: Reachable;
  readonly helper: Reachable;
  readonly keys: Readonly<Record<ServerRole, string>>;
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly code?: string;
  readonly reason?: string;
  readonly operation?: string;
  readonly task?: string;
  readonly window?: number;
  readonly outcome?: string;
}

export interface Pair extends Servers {
  readonly leader: TestService;
  readonly helper: TestService;
  readonly keyFiles: Readonly<Record<ServerRole, string>>;
  readonly logged: Readonly<Record<ServerRole, LogLine[]>>;
  /** Of those, what somebody should look at. */
  readonly warnings: Readonly<Record<ServerRole, LogLine[]>>;
  remove(): Promise<void>;
}

/** Two key files in a folder, and their operator keys. */
export function makeKeyFiles(folder: string): Record<ServerRole, { readonly path: string; readonly key: string }> {
  const make = (role: ServerRole): { path: string; key: string } => {
    const path = join(folder, `${role}.json`);
    const file = openKeyFile(path);
    file.close();
    return { path, key: file.operatorKey };
  };
  return { leader: make("leader"), helper: make("helper") };
}

/** A leader and a helper, each with its own store, key file and operator. */
export async function startPair(
  changed: Partial<Record<ServerRole, Partial<ServiceOptions>>> = {},
  internals: Partial<ServiceInternals> = {},
): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), "lethe-pair-"));
  const files = makeKeyFiles(folder);
  const keys = { leader: files.leader.key, helper: files.helper.key };
  const logged: Record<ServerRole, LogLine[]> = { leader: [], helper: [] };
  const warnings: Record<ServerRole, LogLine[]> = { leader: [], helper: [] };
  const logOf = (role: ServerRole): Logger => {
    const write = (text: string): void => {
      const line = JSON.parse(text) as LogLine;
      for (const list of line.level >= WARNING ? [logged, warnings] : [logged]) list[role].push(line);
    };
    return pino({}, { write });
  };
  const keysAhead = 6;
  const inside = { invalidNoise: () => 0, pollMilliseconds: 100, leaseSeconds: 1, ...internals };
  const helper = await startTestService(
    {
      role: "helper",
      keyFile: files.helper.path,
      peer: { secret: PEER_SECRET, operatorKey: keys.leader },
      log: logOf("helper"),
      keysAhead,
      ...changed.helper,
    },
    inside,
  );
  const leader = await startTestService(
    {
      role: "leader",
      keyFile: files.leader.path,
      peer: { url: helper.url, secret: PEER_SECRET, operatorKey: keys.helper },
      clock: helper.clock,
      log: logOf("leader"),
      keysAhead,
      ...changed.leader,
    },
    inside,
  );
  return {
    leader,
    helper,
    keys,
    keyFiles: { leader: files.leader.path, helper: files.helper.path },
    logged,
    warnings,
    remove: async () => {
      await leader.remove();
      await helper.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

const asAdmin = (body: string): RequestInit => ({
  method: "POST",
  headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
  body,
});

export function agree({ helper }: Pick<Servers, "helper">, task: Task): Promise<Response> {
  return fetch(`${helper.url}/v1/agreements`, asAdmin(JSON.stringify(task)));
}

export function propose({ leader }: Pick<Servers, "leader">, task: Task): Promise<Response> {
  return fetch(`${leader.url}/v1/tasks`, asAdmin(JSON.stringify(task)));
}

export interface SharedTask {
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly layout: TwoServerLayout;
}

/** Both operators want it. */
export async function makeTask(pair: Servers, task: Task = SHARED_TASK): Promise<SharedTask> {
  expect((await agree(pair, task)).status).toBe(200);
  const made = await propose(pair, task);
  const text = await made.text();
  expect(`${made.status} ${text}`).toMatch(/^201 /);
  return knownManifest(text);
}

/** From a signed manifest. */
export function knownManifest(signed: string): SharedTask {
  const { manifest: text } = parseSignedManifest(signed);
  const manifest = parseManifest(text);
  return { manifest, hash: manifestHash(text), layout: twoServerLayoutOf(manifest) };
}

export interface SharedDevice {
  readonly id: Uint8Array;
  readonly token: string;
  readonly keys: Readonly<Record<ServerRole, Uint8Array>>;
}

/** Enrols at the leader, in a group if the task has groups, and checks that both servers' keys are theirs. */
export async function enrolShared(
  pair: Servers,
  { manifest, hash }: SharedTask,
  window: number,
  group?: string,
): Promise<SharedDevice> {
  const response = await eventually(async () => {
    const answer = await askToEnrol(pair.leader, manifest.task, window, group === undefined ? {} : inGroup(group));
    return answer.status === 503 ? undefined : answer;
  });
  const { device: id, uploadToken: token, keys } = parseEnrolment(await response.text());
  expect(keys.map(({ role }) => role)).toEqual(["leader", "helper"]);
  for (const { role, publicKeys, signature } of keys) {
    const bound = publicKeysSigningBytes({ manifestHash: hash, window, device: id, role, publicKeys });
    expect(isSigned(pair.keys[role as ServerRole], bound, signature)).toBe(true);
  }
  return { id, token, keys: { leader: keys[0]?.publicKeys as Uint8Array, helper: keys[1]?.publicKeys as Uint8Array } };
}

const random = randomnessFrom(globalThis.crypto);

/** The report of a device that had these events in one tick. */
export async function sharedReport(
  { manifest, hash, layout }: SharedTask,
  window: number,
  { id, keys }: SharedDevice,
  events: readonly string[],
  report: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): Promise<Uint8Array> {
  const leader = decodeShareKeys("leader", keys.leader);
  const helper = decodeShareKeys("helper", keys.helper);
  const publicKey = Buffer.concat([leader.shareKeys, helper.shareKeys]);
  const at = { task: manifest.task, window };
  const bits = layout.map(({ metrics, statistic }) => {
    const recorder = statistic.device(sharingContext(at)).start(publicKey, random);
    for (const event of events) if (metrics.includes(event)) recorder.record(metrics.indexOf(event));
    return recorder.seal(recorder.write() as Uint8Array);
  });
  const split = manifest.collusion === "one-server" ? splitSharedSlots : undefined;
  const wrappingKeys = { leader: leader.wrappingKey, helper: helper.wrappingKey };
  const halves = await wrapReport(wrappingKeys, { ...at, device: id, report }, Buffer.concat(bits), random, split);
  return encodeTwoServerReport(hash, { reportId: report, ...halves });
}

export function sendShared(
  { leader }: Pick<Servers, "leader">,
  task: string,
  window: number,
  { id, token }: SharedDevice,
  body: Uint8Array,
): Promise<Response> {
  return fetch(`${leader.url}/v1/tasks/${task}/windows/${window}/reports/${encodeBase64url(id)}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" },
    body: body as Uint8Array<ArrayBuffer>,
  });
}

/** What a server tells of a window, once it does. */
export function documentOf(service: Reachable, task: string, window: number): Promise<string> {
  return eventually(async () => {
    const response = await fetch(`${service.url}/v1/tasks/${task}/releases/${window}`);
    const text = await response.text();
    return response.status === 200 ? text : undefined;
  });
}

export async function shareOf(service: Reachable, key: string, task: string, window: number): Promise<WindowShare> {
  const { document, signature } = parseSignedShare(await documentOf(service, task, window));
  expect(isSigned(key, new TextEncoder().encode(document), signature)).toBe(true);
  return parseWindowShare(document);
}

/** As an analyst does who is neither. */
export async function collect(pair: Servers, task: SharedTask, window: number): Promise<Release> {
  const { task: name } = task.manifest;
  const leader = await shareOf(pair.leader, pair.keys.leader, name, window);
  const helper = await shareOf(pair.helper, pair.keys.helper, name, window);
  const cost = planTask({ task: task.manifest, devices: leader.received, delta: 1e-6, windows: 1 });
  return assembleRelease(task, leader, helper, cost);
}
