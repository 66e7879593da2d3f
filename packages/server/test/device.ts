import { createPublicKey, verify } from "node:crypto";
import {
  decodeOperatorKey,
  decodePublicKeys,
  encodeBase64url,
  encodeReport,
  layoutOf,
  type Manifest,
  manifestHash,
  parseEnrolment,
  parseManifest,
  parseSignedManifest,
  publicKeysSigningBytes,
  type TaskLayout,
} from "@lethe/core/message";
import { type Randomness, randomnessFrom } from "@lethe/core/randomness";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";

/** A task as devices know it. */
export interface KnownTask {
  readonly name: string;
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly layout: TaskLayout;
}

/** A device of one window. */
export interface Device {
  readonly task: KnownTask;
  readonly window: number;
  readonly id: Uint8Array;
  readonly token: string;
  readonly publicKeys: Uint8Array;
  /** If the task has groups. */
  readonly group?: string | undefined;
}

interface Reachable {
  readonly url: string;
  readonly operatorKey: string;
}

const random: Randomness = randomnessFrom(globalThis.crypto);

/** Fetches a manifest, for a window if one is given, and checks its signature. */
export async function fetchTask(service: Reachable, name: string, window?: number): Promise<KnownTask> {
  const query = window === undefined ? "" : `?window=${window}`;
  const response = await fetch(`${service.url}/v1/tasks/${name}${query}`);
  expect(response.status).toBe(200);
  const { manifest: text, signature } = parseSignedManifest(await response.text());
  expect(isSigned(service.operatorKey, new TextEncoder().encode(text), signature)).toBe(true);
  const manifest = parseManifest(text);
  return { name, manifest, hash: manifestHash(text), layout: layoutOf(manifest) };
}

export function askToEnrol(
  service: { readonly url: string },
  task: string,
  window: number,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${service.url}/v1/tasks/${task}/windows/${window}/devices`, { method: "POST", ...init });
}

/** The part of a request that states a device's group. */
export function inGroup(group: unknown): RequestInit {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify({ group }) };
}

/**
 * Enrols a device, however long its keys take, and checks that they are the operator's. If the task has groups, it is
 * in the first unless another is given.
 */
export async function enrol(
  service: Reachable,
  task: KnownTask,
  window: number,
  init: RequestInit = {},
  group: string | undefined = task.manifest.groups?.[0],
): Promise<Device> {
  const response = await eventually(async () => {
    const request = group === undefined ? init : { ...init, ...inGroup(group) };
    const answer = await askToEnrol(service, task.name, window, request);
    return answer.status === 503 ? undefined : answer;
  });
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^201 /);
  const { device: id, uploadToken: token, manifestHash: hash, keys } = parseEnrolment(text);
  const [key] = keys;
  if (!key) throw new TypeError("there are no keys");
  expect(hash).toEqual(task.hash);
  const { role, publicKeys, signature } = key;
  const bound = publicKeysSigningBytes({ manifestHash: hash, window, device: id, role, publicKeys });
  expect(isSigned(service.operatorKey, bound, signature)).toBe(true);
  return { task, window, id, token, publicKeys, group };
}

export function enrolMany(service: Reachable, task: KnownTask, window: number, devices: number): Promise<Device[]> {
  return Promise.all(Array.from({ length: devices }, () => enrol(service, task, window)));
}

/** What a device sends to which the given metrics happened, each in the first tick. */
export function reportOf({ task, publicKeys }: Device, ...happened: readonly string[]): Uint8Array {
  const keys = decodePublicKeys(task.layout, publicKeys);
  const sealed = task.layout.map((part, i) => {
    const recorder = part.device.start(keys[i] as Uint8Array, random);
    for (const [j, metric] of part.metrics.entries()) if (happened.includes(metric)) recorder.record(j);
    const writes = Array.from({ length: task.manifest.ticks }, () => recorder.write());
    return recorder.seal(writes.at(-1) as Uint8Array);
  });
  return encodeReport(task.hash, sealed);
}

export function reportPath({ task, window, id }: Pick<Device, "task" | "window" | "id">): string {
  return `/v1/tasks/${task.name}/windows/${window}/reports/${encodeBase64url(id)}`;
}

export function uploadHeaders({ token }: Pick<Device, "token">): Record<string, string> {
  return { "content-type": "application/octet-stream", authorization: `Bearer ${token}` };
}

export function upload(
  service: { readonly url: string },
  device: Pick<Device, "task" | "window" | "id" | "token">,
  report: Uint8Array,
): Promise<Response> {
  return fetch(service.url + reportPath(device), {
    method: "PUT",
    headers: uploadHeaders(device),
    body: report as Uint8Array<ArrayBuffer>,
  });
}

/** Enrols a device and sends its report, which must be taken. */
export async function reportFor(
  service: Reachable,
  task: KnownTask,
  window: number,
  ...happened: readonly string[]
): Promise<Device> {
  const device = await enrol(service, task, window);
  expect((await upload(service, device, reportOf(device, ...happened))).status).toBe(201);
  return device;
}

export function isSigned(operatorKey: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  const x = encodeBase64url(decodeOperatorKey(operatorKey));
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, bytes, key, signature);
}
