import {
  type DeviceEnrolment,
  type DeviceProtocol,
  decodeOperatorKey,
  deviceProtocolOf,
  encodeBase64url,
  isProblemCode,
  join,
  LetheError,
  type LetheErrorCode,
  type Manifest,
  manifestHash,
  publicKeysSigningBytes,
  readEnrolment,
  readManifest,
  readSignedManifest,
  requireNoRedirect,
  type TrustedKeys,
} from "@lethe/core/device";

/** A manifest whose signature was checked, and what a device derives from it. */
export interface KnownTask extends DeviceProtocol {
  /** As it was sent, signature included. */
  readonly signed: string;
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
}

/** A refusal of the service, with the seconds that it wants to wait before the next request. */
export interface Refusal extends LetheError {
  readonly retryAfter: number;
}

/** The requests that a device makes. Every signature is checked before anything relies on it. */
export interface Service {
  /** Checks a signed manifest, from the network or from the store, and derives what follows from it. */
  known(signed: string): Promise<KnownTask>;
  /** The manifest that a window runs under. */
  manifest(window: number | undefined): Promise<KnownTask>;
  /** With the keys of all servers, one after another. */
  enrol(known: KnownTask, window: number): Promise<DeviceEnrolment & { readonly publicKeys: Uint8Array }>;
  /** Resolves when the service has the report. */
  upload(window: number, device: Uint8Array, token: string, report: Uint8Array): Promise<void>;
}

/** Which service and task, and whose signatures count. */
export interface ServiceOptions extends TrustedKeys {
  readonly server: string;
  readonly task: string;
  /** Of the task's groups, the one that the device enrols in. */
  readonly group?: string;
  readonly fetch: typeof fetch;
  /** Unix time in milliseconds. */
  readonly clock: () => number;
  /** Once it is aborted nothing is asked, and what was asked is aborted. Requests are made one after another. */
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 4_000_000;
/** `{"group":"…"}` with a name of 64 letters. */
const MOST_GROUP_BYTES = 76;
/** Clocks that differ by less are as good as equal. */
const LEAST_APART_S = 60;

/** Asks the service over HTTP: one request at a time, without credentials, cache or redirects. */
export function createService(options: ServiceOptions): Service {
  const { server, task, group, fetch: ask, clock, signal, operatorKey, helperKey } = options;
  const base = `${server.replace(/\/+$/, "")}/v1/tasks/${task}`;

  /** The text of a good answer; else throws what the service says, or that it says nothing. */
  async function request(path: string, init?: RequestInit): Promise<string> {
    let response: Response;
    let text: string;
    const aborted = new AbortController();
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    timeout.onabort = signal.onabort = () => aborted.abort();
    try {
      signal.throwIfAborted();
      response = await ask(base + path, {
        ...init,
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        // A report and its token go nowhere but to the address that the application gives.
        redirect: "manual",
        signal: aborted.signal,
      });
      text = await readText(response, () => aborted.abort());
    } catch (error) {
      throw new LetheError("unreachable", `${server} cannot be reached: it is tried again later`, { cause: error });
    }
    if (response.ok) return text;
    requireNoRedirect(server, response);
    const { code = "", detail } = problemIn(text);
    const what = isProblemCode(code) ? code : "unreachable";
    const refusal = new LetheError(
      what,
      `${server} answered ${response.status}: ${detail}${clockHint(what, response, clock())}`,
    );
    throw Object.assign(refusal, { retryAfter: retryAfter(response) }) satisfies Refusal;
  }

  const known = (signed: string): Promise<KnownTask> => knownTask(signed, { operatorKey, helperKey });

  return {
    known,
    manifest: async (window) => {
      const signed = await request(window === undefined ? "" : `?window=${window}`);
      const checked = await known(signed);
      const { manifest } = checked;
      if (manifest.task !== task || manifest.fromWindow > (window ?? Number.POSITIVE_INFINITY)) {
        throw new LetheError("bad-signature", `${server} sent the manifest of another task or window`);
      }
      return checked;
    },
    enrol: async ({ hash, signers, keysOf }, window) => {
      // As long as the longest name takes: the length of a request can be seen from outside.
      const body = JSON.stringify({ group }).padEnd(MOST_GROUP_BYTES);
      const stated = group && { headers: { "content-type": "application/json" }, body };
      const enrolment = readEnrolment(
        await request(`/windows/${window}/devices`, { method: "POST", ...(stated as object) }),
        signers,
      );
      for (const keys of enrolment.keys) {
        const signed = publicKeysSigningBytes({ manifestHash: hash, window, ...enrolment, ...keys });
        await requireSignature(keys.key, keys.signature, signed, `the ${keys.role}'s keys are`);
      }
      const publicKeys = join(enrolment.keys.map((keys) => keys.publicKeys));
      // Before anything relies on them.
      keysOf(publicKeys, window);
      return { ...enrolment, publicKeys };
    },
    upload: async (window, device, token, report) => {
      const text = await request(`/windows/${window}/reports/${encodeBase64url(device)}`, {
        method: "PUT",
        headers: { "content-type": "application/octet-stream", authorization: `Bearer ${token}` },
        body: report as Uint8Array<ArrayBuffer>,
      });
      // A hotel network's login page, for example, which never passes the report on.
      if (text !== "")
        throw new LetheError("unreachable", `${server} answered like somebody else: it is tried again later`);
    },
  };
}

/** Choosing lattice parameters takes tens of milliseconds, and a manifest is read twice in every window. */
const MOST_REMEMBERED = 8;
const remembered = new Map<string, Promise<KnownTask>>();

function knownTask(signed: string, keys: TrustedKeys): Promise<KnownTask> {
  const question = JSON.stringify([keys, signed]);
  if (remembered.size > MOST_REMEMBERED) remembered.clear();
  const known = remembered.get(question) ?? checkedTask(signed, keys);
  remembered.set(question, known);
  known.catch(() => remembered.delete(question));
  return known;
}

async function checkedTask(signed: string, keys: TrustedKeys): Promise<KnownTask> {
  const { manifest: text, signature } = readSignedManifest(signed);
  await requireSignature(keys.operatorKey, signature, new TextEncoder().encode(text), "the manifest is");
  const manifest = readManifest(text);
  const hash = manifestHash(text);
  return { signed, manifest, hash, ...(await deviceProtocolOf(manifest, hash, keys)) };
}

async function requireSignature(key: string, signature: Uint8Array, bytes: Uint8Array, what: string): Promise<void> {
  const raw = decodeOperatorKey(key) as Uint8Array<ArrayBuffer>;
  const { subtle } = globalThis.crypto;
  const publicKey = await subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  const signed = signature as Uint8Array<ArrayBuffer>;
  if (!(await subtle.verify("Ed25519", publicKey, signed, bytes as Uint8Array<ArrayBuffer>))) {
    throw new LetheError("bad-signature", `${what} not signed by the operator's key`);
  }
}

/**
 * At most `MOST_BYTES`, whatever the other side sends. One copy of the response is read whole, the other one is
 * counted: Chromium shows a request as cancelled if a reader alone has read its response.
 */
async function readText(response: Response, abort: () => void): Promise<string> {
  const text = response.clone().text();
  text.catch(abort);
  const reader = response.body?.getReader();
  for (let left = MOST_BYTES; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    left -= value.length;
    if (left < 0) {
      abort();
      throw new TypeError("too long");
    }
  }
  return text;
}

function problemIn(text: string): { readonly code?: string; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as { code: string; detail?: unknown };
    return { code, detail: String(detail).slice(0, 200) };
  } catch {
    return { detail: "no reason given" };
  }
}

/** If the service refuses a window, the clocks may differ: says by how much. */
function clockHint(code: LetheErrorCode, { headers }: Response, now: number): string {
  const seconds = Math.round((now - Date.parse(headers.get("date") ?? "")) / 1000);
  if (!code.startsWith("window-") || !(Math.abs(seconds) >= LEAST_APART_S)) return "";
  return `; the clock of this device is ${Math.abs(seconds)} seconds ${seconds > 0 ? "ahead" : "behind"}`;
}

function retryAfter({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after"));
  return seconds > 0 ? Math.min(seconds, 86_400) : 0;
}
