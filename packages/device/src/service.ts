import {
  type DeviceLayout,
  decodeOperatorKey,
  decodePublicKeys,
  deviceLayoutOf,
  type Enrolment,
  encodeBase64url,
  isProblemCode,
  LetheError,
  type Manifest,
  manifestHash,
  publicKeysSigningBytes,
  readEnrolment,
  readManifest,
  readSignedManifest,
} from "@lethe/core/device";

/** A manifest whose signature was checked, and what a device derives from it. */
export interface KnownTask {
  /** As it was sent, signature included. */
  readonly signed: string;
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly layout: DeviceLayout;
}

/** A refusal, with the seconds after which the service wants to be asked again. */
export class Refusal extends LetheError {
  readonly retryAfter: number;

  constructor(code: LetheError["code"], message: string, retryAfter: number) {
    super(code, message);
    this.retryAfter = retryAfter;
  }
}

export interface Service {
  /** The manifest that a window runs under. */
  manifest(window: number | undefined): Promise<KnownTask>;
  enrol(known: KnownTask, window: number): Promise<Enrolment>;
  /** Resolves when the service has the report. */
  upload(window: number, device: Uint8Array, token: string, report: Uint8Array): Promise<void>;
}

export interface ServiceOptions {
  readonly server: string;
  readonly task: string;
  readonly operatorKey: string;
  readonly fetch: typeof fetch;
}

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 4_000_000;

export function createService({ server, task, operatorKey, fetch: ask }: ServiceOptions): Service {
  const base = `${server.replace(/\/+$/, "")}/v1/tasks/${task}`;

  /** The text of a good answer; else throws what the service says, or that it says nothing. */
  async function request(path: string, init: RequestInit): Promise<string> {
    let response: Response;
    let text: string;
    try {
      response = await ask(base + path, {
        ...init,
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await readText(response);
    } catch (error) {
      if (error instanceof LetheError) throw error;
      throw new LetheError("unreachable", `${server} cannot be reached: it is tried again later`, { cause: error });
    }
    if (response.ok) return text;
    const { code, detail } = problemIn(text);
    const what = isProblemCode(code) ? code : "unreachable";
    throw new Refusal(what, `${server} answered ${response.status}: ${detail}`, retryAfter(response));
  }

  return {
    manifest: async (window) => {
      const signed = await request(window === undefined ? "" : `?window=${window}`, { method: "GET" });
      const known = await knownTask(signed, operatorKey);
      if (known.manifest.task !== task || known.manifest.fromWindow > (window ?? known.manifest.fromWindow)) {
        throw new LetheError("bad-signature", `${server} sent the manifest of another task or window`);
      }
      return known;
    },
    enrol: async ({ hash, layout }, window) => {
      const enrolment = readEnrolment(await request(`/windows/${window}/devices`, { method: "POST" }));
      const [keys] = enrolment.keys;
      if (!keys) throw new LetheError("bad-encoding", "there are no keys in the enrolment");
      const binding = { manifestHash: hash, window, device: enrolment.device, ...keys };
      await requireSignature(operatorKey, keys.signature, publicKeysSigningBytes(binding), "the device's keys are");
      // Before anything relies on them.
      decodePublicKeys(layout, keys.publicKeys);
      return enrolment;
    },
    upload: async (window, device, token, report) => {
      const text = await request(`/windows/${window}/reports/${encodeBase64url(device)}`, {
        method: "PUT",
        headers: { "content-type": "application/octet-stream", authorization: `Bearer ${token}` },
        body: report as Uint8Array<ArrayBuffer>,
      });
      // The page of a hotel's network, for one, which never handed the report on.
      if (text !== "")
        throw new LetheError("unreachable", `${server} answered like somebody else: it is tried again later`);
    },
  };
}

/** Choosing lattice parameters takes tens of milliseconds, and a manifest is read twice in every window. */
const MOST_REMEMBERED = 8;
const remembered = new Map<string, Promise<KnownTask>>();

/** Checks a signed manifest, from the network or from the store, and derives what follows from it. */
export function knownTask(signed: string, operatorKey: string): Promise<KnownTask> {
  const question = `${operatorKey} ${signed}`;
  const known = remembered.get(question);
  if (known) return known;
  const checked = checkedTask(signed, operatorKey);
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(question, checked);
  checked.catch(() => remembered.delete(question));
  return checked;
}

async function checkedTask(signed: string, operatorKey: string): Promise<KnownTask> {
  const { manifest: text, signature } = readSignedManifest(signed);
  await requireSignature(operatorKey, signature, new TextEncoder().encode(text), "the manifest is");
  const manifest = readManifest(text);
  return { signed, manifest, hash: manifestHash(text), layout: await deviceLayoutOf(manifest) };
}

async function requireSignature(key: string, signature: Uint8Array, bytes: Uint8Array, what: string): Promise<void> {
  const raw = decodeOperatorKey(key) as Uint8Array<ArrayBuffer>;
  const { subtle } = globalThis.crypto;
  const publicKey = await subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  const [signed, told] = [signature, bytes] as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  if (!(await subtle.verify("Ed25519", publicKey, signed, told))) {
    throw new LetheError("bad-signature", `${what} not signed by the operator's key`);
  }
}

/** At most so much, whatever the other side sends. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.length > MOST_BYTES) {
      await reader.cancel();
      throw new LetheError("unreachable", "the answer is too long to be the service's: it is tried again later");
    }
  }
  return text;
}

function problemIn(text: string): { readonly code: string; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as { code?: unknown; detail?: unknown };
    return { code: String(code), detail: String(detail).slice(0, 200) };
  } catch {
    return { code: "", detail: "no reason given" };
  }
}

function retryAfter({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after"));
  return seconds > 0 ? Math.min(seconds, 86_400) : 0;
}
