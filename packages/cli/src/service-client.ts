import { LetheError } from "@lethe/core/error";
import {
  isProblemCode,
  type Manifest,
  parseManifest,
  parseSignedManifest,
  type ReleaseOrWithheld,
  redirectTarget,
  type SignedManifest,
  type WindowStatus,
} from "@lethe/core/message";
import { parseSignedShare, parseWindowShare, type SignedShare } from "@lethe/core/two-server";
import { failure } from "./system/failure.ts";

interface Request {
  readonly method?: "GET" | "POST";
  /** Of the admin. */
  readonly token?: string;
  /** JSON. */
  readonly body?: string;
  /** What to say of a service that has no such path. */
  readonly absent?: string;
}

interface Answer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

const PATIENCE_MS = 60_000;
const MOST_BYTES = 64_000_000;

/** Asks the service at an address. A refusal becomes an error with its words, and so does whatever else went wrong. */
export async function ask(server: string, path: string, request: Request = {}): Promise<Answer> {
  const { status, type, body, target } = await reaching(server, () => exchange(server + path, request));
  if (status < 300 && type === "application/json") return { status, body };
  if (target !== undefined) {
    throw failure(
      `what answers at ${server} is not a Lethe service: it redirects to ${target}, and a token goes nowhere but to the ` +
        "service's own address, which you give with --server",
    );
  }
  if (status < 400 || type !== "application/problem+json") throw foreign(server);
  const { code = "", detail = "" } = parse<{ code?: string; detail?: string }>(server, body);
  const words = String(detail).replaceAll(/\p{Cc}/gu, " ");
  if (code === "unauthorized" && request.token !== undefined) {
    throw failure(
      `the service at ${server} refuses this admin token: set LETHE_ADMIN_TOKEN, or LETHE_DATA to its data folder`,
    );
  }
  if (isProblemCode(code)) throw new LetheError(code, words);
  if (status === 404 && request.absent !== undefined) throw failure(`the service at ${server} ${request.absent}`);
  throw failure(`the service at ${server} answers ${status}: ${words}`, status < 500 || status === 503 ? 2 : 1);
}

/** What the service sends is of the shape that it documents. */
export async function askJson<T>(server: string, path: string, request: Request = {}): Promise<T> {
  return parse<T>(server, (await ask(server, path, request)).body);
}

/** As the service signed it; nobody has told the command a key to check the signature with. */
export async function fetchManifest(server: string, task: string): Promise<Manifest> {
  return readManifest((await ask(server, taskPath(task))).body);
}

/** As it is in force in a window; the signature is still to be checked. */
export async function fetchSignedManifest(server: string, task: string, window: number): Promise<SignedManifest> {
  return parseSignedManifest((await ask(server, `${taskPath(task)}?window=${window}`)).body);
}

export function readManifest(signed: string): Manifest {
  return parseManifest(parseSignedManifest(signed).manifest);
}

export function fetchStatus(server: string, task: string, window: number): Promise<WindowStatus> {
  return askJson(server, `${taskPath(task)}/windows/${window}`);
}

/** What one of two servers tells in place of a release. */
export interface Shared {
  readonly status: "shared";
  readonly window: number;
  /** The signature is still to be checked. */
  readonly signed: SignedShare;
}

/** What a service tells of a window that is done. */
export type Told = ReleaseOrWithheld | Shared;

/** Undefined if it is not there yet. */
export async function fetchRelease(server: string, task: string, window: number): Promise<Told | undefined> {
  const found = await unless("window-not-open", askJson<Published>(server, `${taskPath(task)}/releases/${window}`));
  return found && toldBy(found);
}

/** Newest first. */
export async function fetchReleases(
  server: string,
  task: string,
  { limit, before }: { readonly limit: number; readonly before?: number },
): Promise<readonly Told[]> {
  const query = before === undefined ? `limit=${limit}` : `limit=${limit}&before=${before}`;
  const { releases } = await askJson<{ releases: readonly Published[] }>(server, `${taskPath(task)}/releases?${query}`);
  return releases.map(toldBy);
}

type Published = ReleaseOrWithheld | { readonly status: "shared" };

function toldBy(published: Published): Told {
  if (published.status !== "shared") return published;
  const signed = parseSignedShare(JSON.stringify(published));
  return { status: "shared", window: parseWindowShare(signed.document).window, signed };
}

export function taskPath(task: string): string {
  return `/v1/tasks/${encodeURIComponent(task)}`;
}

/** Undefined if it is refused for that reason. */
export async function unless<T>(code: LetheError["code"], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof LetheError && error.code === code) return undefined;
    throw error;
  }
}

/** Says in one line that nobody answers. */
export async function reaching<T>(server: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === "TimeoutError") {
      throw failure(`the service at ${server} has not answered for ${PATIENCE_MS / 1000} seconds`);
    }
    // What fetch throws if there is no answer.
    if (!(error instanceof TypeError) || !(error.cause instanceof Error)) throw error;
    const { code } = error.cause as NodeJS.ErrnoException;
    const why = code === undefined || code === "ECONNREFUSED" ? "" : ` (${code})`;
    throw failure(
      `no service answers at ${server}${why}: is the address right, and the service running (npx lethe serve)?`,
    );
  }
}

async function exchange(
  url: string,
  { method = "GET", token, body }: Request,
): Promise<{ status: number; type: string; body: string; target: string | undefined }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
    // A token goes nowhere but to the address that was given.
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  const target = redirectTarget(response)?.replaceAll(/\p{Cc}/gu, " ");
  return { status: response.status, type, body: await readText(response), target };
}

async function readText({ body, url }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MOST_BYTES) throw failure(`${new URL(url).origin} sends more than ${MOST_BYTES / 1e6} MB`);
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

function parse<T>(server: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw foreign(server);
  }
}

function foreign(server: string): Error {
  return failure(`what answers at ${server} is not a Lethe service: give its address with --server`);
}
