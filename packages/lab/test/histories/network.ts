import type { ServiceInternals } from "../../../server/dist/service.js";
import type { Draws } from "./draws.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** The HTTP server of a process. */
type App = Parameters<NonNullable<ServiceInternals["listen"]>>[0];

/** A request as it left. */
export interface SentRequest {
  readonly from: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What happens to the n-th request of somebody. */
export interface RequestFault {
  readonly what: "request lost" | "answer lost" | "request twice" | "request late" | "cut off";
  readonly seconds: number;
}

/** Watches and changes requests. */
export interface NetworkWatcher {
  sent(request: SentRequest): void;
  /** A process of the service has answered, whether the answer arrives or not. */
  answered(request: SentRequest, status: number): void;
  faults(from: string, nth: number): readonly RequestFault[];
  /** Whether somebody else has seen the device's id, and sends a report in its name before. */
  hasStranger(from: string): boolean;
  /** Changes what is sent; planted bugs do. */
  rewrite(request: SentRequest): SentRequest;
}

/** Between devices and services, and between services. There are no sockets: requests go into `inject`. */
export interface Network {
  fetchOf(process: SimulatedProcess): typeof fetch;
  /** A process that answers at a host, until it ends. */
  listen(host: string, process: SimulatedProcess, app: App): void;
  hangUp(process: SimulatedProcess): void;
  /** While it is true, nobody reaches this host. */
  setAway(host: string, isAway: boolean): void;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const NOTHING = new Uint8Array();

/** A network in which nothing is lost, except for what the watcher's faults say. */
export function createNetwork(world: World, watcher: NetworkWatcher): Network {
  const listening = new Map<string, { readonly process: SimulatedProcess; readonly app: App }[]>();
  const away = new Set<string>();
  const counts = new Map<string, number>();

  /** Passes a request to one of the host's processes; `onAnswer` gets undefined if the connection breaks. */
  function deliver(request: SentRequest, nth: number, onAnswer: (answer: Answer | undefined) => void): void {
    const alive = (listening.get(request.host) ?? []).filter(({ process }) => !process.isDead);
    if (alive.length === 0 || away.has(request.host)) {
      onAnswer(undefined);
      return;
    }
    const { process, app } = world.draws("balance", request.from, nth).pick(alive);
    let isOver = false;
    const over = (answer: Answer | undefined): void => {
      if (isOver) return;
      isOver = true;
      onAnswer(answer);
    };
    process.onDeath.push(() => over(undefined));
    world.later(0, process, async () => {
      // A process that is ending answers nothing.
      const answer = await inject(app, request).catch(() => undefined);
      if (answer) watcher.answered(request, answer.status);
      over(answer);
    });
  }

  function ask(process: SimulatedProcess, asked: SentRequest, signal: AbortSignal | null): Promise<Response> {
    const { from } = asked;
    const nth = (counts.get(from) ?? 0) + 1;
    counts.set(from, nth);
    const request = watcher.rewrite(asked);
    watcher.sent(request);
    const faults = watcher.faults(from, nth);
    if (request.method === "PUT" && watcher.hasStranger(from)) {
      deliver(forged(request, world.draws("stranger", from, nth)), -nth, () => undefined);
    }
    const has = (what: RequestFault["what"]): RequestFault | undefined => faults.find((fault) => fault.what === what);
    const draws = world.draws("latency", from, nth);
    const [there, back] = [2 + draws.below(40), 2 + draws.below(40)];
    const late = 1000 * (has("request late")?.seconds ?? 0);
    return new Promise((resolve, reject) => {
      const fail = (delay: number): void =>
        void world.later(delay, process, () => reject(new TypeError("fetch failed: the connection was lost")));
      signal?.addEventListener("abort", () => reject(signal.reason));
      if (has("request lost")) return fail(there);
      const twice = has("request twice");
      if (twice) {
        // Somebody on the way sends it again, and reads the answer himself.
        world.later(there + 1000 * twice.seconds, undefined, () => deliver(request, -nth, () => undefined));
      }
      if (has("cut off")) fail(there + late);
      world.later(there + late, undefined, () =>
        deliver(request, nth, (answer) => {
          if (!answer || has("answer lost") || has("cut off")) return fail(back);
          world.later(back, process, () => resolve(responseOf(answer, world.now())));
        }),
      );
    });
  }

  return {
    fetchOf: (process) => async (input, init) => {
      await world.port(process);
      const { host, pathname, search } = new URL(String(input));
      const signal = init?.signal ?? null;
      if (signal?.aborted) throw signal.reason;
      const request = {
        from: process.name,
        method: init?.method ?? "GET",
        host,
        path: pathname + search,
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: bytesOf(init?.body),
      };
      const response = await ask(process, request, signal);
      await world.port(process);
      return response;
    },
    listen: (host, process, app) => {
      listening.set(host, [...(listening.get(host) ?? []), { process, app }]);
    },
    hangUp: (process) => {
      for (const [host, all] of listening)
        listening.set(
          host,
          all.filter((one) => one.process !== process),
        );
    },
    setAway: (host, isAway) => void (isAway ? away.add(host) : away.delete(host)),
  };
}

let running: Network | undefined;

/** The network of the history that runs, for code that calls the global `fetch`. */
export function runningNetwork(): Network {
  if (!running) throw new TypeError("no history runs");
  return running;
}

/** Sets it, or removes it after the history. */
export function setRunningNetwork(network: Network | undefined): void {
  running = network;
}

/** Version, kind and the manifest's hash, which everybody knows. */
const HEADER_BYTES = 34;

/** A report of a stranger, who knows the device's id, and not its token. */
function forged(request: SentRequest, draws: Draws): SentRequest {
  const body = request.body.slice();
  draws.fill(body.subarray(HEADER_BYTES));
  const token = new Uint8Array(32);
  draws.fill(token);
  const authorization = `Bearer ${Buffer.from(token).toString("base64url")}`;
  return { ...request, from: "stranger", headers: { ...request.headers, authorization }, body };
}

async function inject(app: App, { method, path, headers, body }: SentRequest): Promise<Answer> {
  const answer = await app.inject({
    method: method as "GET",
    url: path,
    headers: { ...headers, "content-length": String(body.length) },
    ...(body.length > 0 && { payload: Buffer.from(body) }),
  });
  const kept = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return { status: answer.statusCode, headers: Object.fromEntries(kept), body: Uint8Array.from(answer.rawPayload) };
}

function responseOf({ status, headers, body }: Answer, now: number): Response {
  const own = new Headers(headers);
  own.set("date", new Date(now).toUTCString());
  own.delete("content-length");
  return new Response(body.length > 0 ? (body as Uint8Array<ArrayBuffer>) : null, { status, headers: own });
}

function bytesOf(body: unknown): Uint8Array {
  if (body === undefined || body === null) return NOTHING;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body.slice();
  throw new TypeError("the simulator sends texts and bytes");
}
