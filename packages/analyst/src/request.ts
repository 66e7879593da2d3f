import { LetheError } from "@lethe/core/error";
import { isProblemCode, redirectTarget } from "@lethe/core/message";

/** A request to a service, besides its address and path. */
export interface Request {
  readonly method?: "GET" | "HEAD" | "POST";
  /** The admin token; only requests that need it carry it. */
  readonly token?: string | undefined;
  /** JSON. */
  readonly body?: string;
}

/** What a service answered to a request that it did not refuse. */
export interface Answer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

interface Exchange extends Answer {
  readonly type: string;
  /** Seconds after which the service would answer; 0 if it does not say. */
  readonly retryAfter: number;
}

/** An error of a service that refuses a request: it may succeed after as many seconds, if that is more than 0. */
export interface Refusal extends LetheError {
  readonly retryAfter: number;
}

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 64_000_000;
/** What a header can carry, and a service accepts. */
const TOKEN = /^[\x21-\x7e]{1,500}$/;

/**
 * Sends a request to the service at an address and returns its answer. Throws a `LetheError`: with the service's own
 * code and words, and as a `Refusal`, if it refuses; `unauthorized` if it does not accept the token, or no header can carry it; `redirected`
 * for any redirect, which is not followed; `bad-answer` if something else answers, or too much; `bad-role` if the
 * service does not have this path; `unavailable` (503) and `service-failed` (other 5xx) if the service itself fails;
 * `unreachable` if nothing answers within 60 seconds.
 */
export async function ask(server: string, path: string, request: Request = {}): Promise<Answer> {
  // The error of `fetch` would show the token.
  if (request.token !== undefined && !TOKEN.test(request.token)) {
    throw new LetheError("unauthorized", "an admin token must have at most 500 characters, all of them visible ASCII");
  }
  const { status, type, body, retryAfter } = await exchange(server, path, request);
  if (status < 300 && type === "application/json") return { status, body };
  if (status < 400 || type !== "application/problem+json") throw notLethe(server);
  const { code = "", detail } = parse<{ code?: string; detail?: unknown }>(server, body);
  if (code === "unauthorized" && request.token !== undefined) {
    throw new LetheError(code, `the service at ${server} refuses this admin token`);
  }
  const words = printable(typeof detail === "string" ? detail : "");
  if (isProblemCode(code)) throw Object.assign(new LetheError(code, words), { retryAfter }) satisfies Refusal;
  throw new LetheError(codeOf(status), `the service at ${server} answers ${status}: ${words}`);
}

/** As `ask`, and parses the answer, which the service's interface promises to have this type. */
export async function askJson<T>(server: string, path: string, request: Request = {}): Promise<T> {
  return parse<T>(server, (await ask(server, path, request)).body);
}

/** The status of the answer, whatever it is. Throws as `ask` does if there is none, or if it is a redirect. */
export async function askStatus(server: string, path: string): Promise<number> {
  return (await exchange(server, path, { method: "HEAD" })).status;
}

/** What `answer` resolves to, or undefined if it is refused with this code. */
export async function unless<T>(code: LetheError["code"], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof LetheError && error.code === code) return undefined;
    throw error;
  }
}

function codeOf(status: number): LetheError["code"] {
  if (status === 503) return "unavailable";
  if (status === 404) return "bad-role";
  return status >= 500 ? "service-failed" : "bad-answer";
}

async function exchange(server: string, path: string, request: Request): Promise<Exchange> {
  try {
    return await send(server, path, request);
  } catch (error) {
    throw whyNoAnswer(server, error);
  }
}

async function send(server: string, path: string, { method = "GET", token, body }: Request): Promise<Exchange> {
  const response = await fetch(server + path, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
    // The token is for this address only.
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const target = redirectTarget(response);
  if (target !== undefined) {
    void response.body?.cancel();
    throw new LetheError("redirected", `${server} redirects to ${printable(target)}: use the service's own address`);
  }
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  return { status: response.status, type, body: await readText(server, response), retryAfter: retryAfter(response) };
}

/** Without dates, which no service of Lethe sends. */
function retryAfter({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after"));
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

async function readText(server: string, { body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = "";
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MOST_BYTES) {
      void reader.cancel();
      throw new LetheError("bad-answer", `the service at ${server} sends more than ${MOST_BYTES / 1e6} MB`);
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * `fetch` rejects with a `TypeError` if it gets no answer; in Node its cause says why. Other errors stay as they are.
 */
function whyNoAnswer(server: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name === "TimeoutError") {
    const message = `the service at ${server} has not answered for ${TIMEOUT_MS / 1000} seconds`;
    return new LetheError("unreachable", message, { cause: error });
  }
  if (!(error instanceof TypeError)) return error;
  const { code } = (error.cause ?? {}) as { readonly code?: string };
  const why = code === undefined || code === "ECONNREFUSED" ? "" : ` (${code})`;
  return new LetheError("unreachable", `no service answers at ${server}${why}`, { cause: error });
}

/** A service answers with objects only. */
function parse<T>(server: string, text: string): T {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw notLethe(server);
  }
  if (typeof parsed !== "object" || parsed === null) throw notLethe(server);
  return parsed as T;
}

/** What answers at an address breaks the interface of a service. */
export function notLethe(server: string): LetheError {
  return new LetheError("bad-answer", `what answers at ${server} is not a Lethe service: check the address`);
}

/** Without control characters, which a terminal would obey. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}
