/// <reference lib="dom" />
import { type Lethe, type LetheOptions, openLethe } from "@lethe/device/all";

/** What a test asks of the worker: to have this task open, at this time, and to record. */
export interface Asked {
  readonly options: Pick<LetheOptions, "server" | "task" | "operatorKey" | "helperKey">;
  /** Milliseconds since 1970; the time stands still until the next question. */
  readonly now?: number;
  /** Or how far the time is ahead of the machine's, with which it passes. */
  readonly ahead?: number;
  /** Whether to do now what is due. */
  readonly live?: boolean;
  readonly record?: readonly string[];
}

export interface Told {
  /** Of the worker, from its start to its end. */
  readonly life: string;
  readonly counts: boolean;
  /** In hex. */
  readonly stored: string | undefined;
  readonly problems: readonly string[];
}

const life = crypto.randomUUID();
const problems: string[] = [];
const opened = new Map<string, Promise<Lethe>>();
let clock = Date.now;

async function answer({ options, now, ahead = 0, live, record = [] }: Asked): Promise<Told> {
  clock = now === undefined ? () => Date.now() + ahead : () => now;
  const onProblem = ({ code, message }: { code: string; message: string }) => void problems.push(`${code}: ${message}`);
  const opening = opened.get(options.task) ?? openLethe({ ...options, clock: () => clock(), onProblem });
  opened.set(options.task, opening);
  const lethe = await opening;
  if (live) await lethe.sendPending();
  for (const name of record) lethe.record(name);
  const { stored, memory } = lethe.inspect();
  const hex = stored && Array.from(stored, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { life, counts: memory.length > 0, stored: hex, problems };
}

/** Of a page, and of an extension: what both have that a page has not. */
interface WorkerScope {
  readonly skipWaiting: () => Promise<void>;
  readonly addEventListener: (
    type: "install" | "message",
    listener: (event: {
      readonly data: Asked;
      readonly ports: readonly MessagePort[];
      waitUntil(done: Promise<unknown>): void;
    }) => void,
  ) => void;
  readonly chrome?: {
    readonly runtime?: {
      readonly onMessage?: {
        addListener(listener: (asked: Asked, sender: unknown, respond: (told: unknown) => void) => true): void;
      };
    };
  };
}

const scope = globalThis as unknown as WorkerScope;
scope.addEventListener("install", (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener("message", (event) => {
  event.waitUntil(answer(event.data).then((told) => event.ports[0]?.postMessage(told)));
});
scope.chrome?.runtime?.onMessage?.addListener((asked, _sender, respond) => {
  void answer(asked).then(respond);
  return true;
});
