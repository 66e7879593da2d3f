/// <reference lib="esnext.disposable" preserve="true" />
import { decodeOperatorKey, encodeBase64url, LetheError, randomnessFrom, xof } from "@lethe/core/device";
import { createService } from "./service.ts";
import { indexedDbStore } from "./store/indexed-db.ts";
import { memoryStore } from "./store/memory.ts";
import type { Store } from "./store/store.ts";
import { type Counting, type Inspection, openWriter, type Writer } from "./writer.ts";

export interface LetheOptions {
  /** Where the service is. */
  readonly server: string;
  readonly task: string;
  /** `ed25519:…`, as the operator tells it: whoever else signs is not believed. */
  readonly operatorKey: string;
  /** The helper's, `ed25519:…`, exactly if the task has two servers. `server` and `operatorKey` are the leader's. */
  readonly helperKey?: string;
  /** In a browser IndexedDB, unless told otherwise; elsewhere memory. For Node see `@lethe/device/node`. */
  readonly store?: Store;
  /** Unix time in milliseconds. */
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  /** Whether the person in front of the device agrees; true unless told otherwise. */
  readonly consent?: boolean;
  /** Told what goes wrong, each thing once; without it the console is, but never of what an event brought about. The application goes on. */
  readonly onProblem?: (error: LetheError) => void;
}

/** Counts events of a task. `Name` are the names of its metrics, as `lethe task types` writes them. */
export interface Lethe<Name extends string = string> extends AsyncDisposable {
  /** Folds an event into the ciphertexts, at once. Never throws for a reason of the moment. */
  record(name: Name, times?: number): void;
  /** Resolves when events begin to count, here or in the tab that counts for this one; they are dropped before. */
  readonly ready: Promise<Counting>;
  /** Sends what is sealed now, without waiting for its time. */
  sendPending(): Promise<void>;
  /**
   * Without consent everything is wiped, and nothing is counted or sent: in no tab and no process that shares the store. What
   * is in progress is aborted; nothing of it is left when this resolves. Consent that is given anew begins anew.
   */
  setConsent(consent: boolean): Promise<void>;
  /** Exactly what somebody who opens the device now would see. */
  inspect(): Inspection;
  /** Writes a last time, and ends. */
  close(): Promise<void>;
}

/** `openLethe` resolves after this time even if another tab or process writes, or the store is slow. */
const OTHERS_MS = 250;

/** Resolves without the network. Rejects for wrong options only. */
export async function openLethe<Name extends string = string>(options: LetheOptions): Promise<Lethe<Name>> {
  checkOptions(options);
  const { server, task, operatorKey, helperKey } = options;
  decodeOperatorKey(operatorKey, "operatorKey");
  if (helperKey !== undefined) decodeOperatorKey(helperKey, "helperKey");
  if (!/^https?:\/\//.test(server)) throw new TypeError("server is an http or https address");
  const store = options.store ?? defaultStore(`${server} ${task}`);
  const onDropped = (error: LetheError): void => {
    try {
      options.onProblem?.(error);
    } catch {
      // The application's own; it must not stop the count.
    }
  };
  const onProblem = (error: LetheError): void => {
    if (options.onProblem) onDropped(error);
    else console.warn(`Lethe: ${error.message} (${error.code})`);
  };
  let onCounting = (_: Counting): void => {};
  const ready = new Promise<Counting>((resolve) => {
    onCounting = resolve;
  });
  const parts = {
    ...options,
    fetch: options.fetch ?? fetch.bind(globalThis),
    clock: options.clock ?? Date.now,
    store,
    random: randomnessFrom(globalThis.crypto),
    onProblem,
    onDropped,
    onCounting: (counting: Counting) => {
      onCounting(counting);
      store.peers?.announce(counting);
    },
  };
  let writer: Writer | undefined;
  /** Of the consent that holds. It is aborted when that is withdrawn, or with `true`, for a last write, when the program closes. */
  let session: AbortController | undefined;
  /** Whether the session got the lock. Opening what is stored may take longer than `OTHERS_MS` on a busy machine. */
  let isLocked = false;
  /** Sessions, and what comes between them: each begins when nothing of the one before is in progress. */
  let turn = Promise.resolve();

  function inTurn(act: () => Promise<void>): Promise<void> {
    turn = turn.then(act).catch((error: unknown) => {
      onProblem(
        error instanceof LetheError ? error : new LetheError("bad-store", "the store failed", { cause: error }),
      );
    });
    return turn;
  }

  /** Waits to be the one that writes, writes until the signal is aborted, and lets others. */
  async function write(signal: AbortSignal, isOpen: () => void): Promise<void> {
    const release = await store.lock(signal, () => end(false), onProblem);
    if (!release) return;
    isLocked = true;
    try {
      const opened = await openWriter({ ...parts, service: createService({ ...parts, signal }), signal });
      if (!signal.aborted) {
        writer = opened;
        store.peers?.receive(opened.record);
        isOpen();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      await opened.close(signal.reason);
    } finally {
      await release();
    }
  }

  /** At once nothing is counted, asked or written any more, but for a last write. Resolves when nothing is in progress. */
  function end(isLastWrite: boolean): Promise<void> {
    session?.abort(isLastWrite);
    session = writer = undefined;
    // What others hand over from now on is for the next one.
    store.peers?.stop();
    return turn;
  }

  async function start(): Promise<void> {
    const own = new AbortController();
    session = own;
    isLocked = false;
    await new Promise<void>((resolve) => {
      const run = async (): Promise<void> => {
        try {
          await write(own.signal, resolve);
        } finally {
          // It may have failed by itself.
          if (session === own) end(false);
        }
      };
      void inTurn(run).then(resolve);
      setTimeout(resolve, OTHERS_MS);
    });
    if (!writer) store.peers?.listen(onCounting);
    if (session === own && !isLocked && !store.peers && !store.reportsHolder) {
      onProblem(new LetheError("bad-store", "another one writes to this store: events are dropped until it ends"));
    }
  }

  const life = new AbortController();
  let isLeft = false;
  function onPage({ type }: { readonly type: string }): void {
    if (type !== "visibilitychange") isLeft = type === "pagehide";
    // A page that is left becomes hidden after that, which is no news. Firefox may close a hidden tab without telling its page.
    else if (isLeft || document.visibilityState !== "hidden") return;
    if (type !== "pageshow") writer?.hide();
  }
  for (const type of ["pagehide", "pageshow", "visibilitychange"]) globalThis.addEventListener?.(type, onPage, life);

  async function setConsent(consent: boolean): Promise<void> {
    if (!consent) {
      end(false);
      await inTurn(() => store.wipe());
    } else if (!session) await start();
  }

  async function close(): Promise<void> {
    life.abort();
    end(true);
    await inTurn(() => store.close());
  }

  await setConsent(options.consent ?? true);
  return {
    record: (name, times = 1) => {
      if (!(Number.isInteger(times) && times >= 0))
        onDropped(new LetheError("bad-encoding", "times is a whole number"));
      else if (writer) writer.record(String(name), times);
      else if (session) store.peers?.forward(String(name), times);
    },
    ready,
    sendPending: async () => writer?.sendPending(),
    setConsent,
    inspect: () => writer?.inspect() ?? { stored: undefined, memory: [] },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What each option is. */
const OPTIONS: Readonly<Record<string, string>> = {
  server: "string",
  task: "string",
  operatorKey: "string",
  helperKey: "string",
  store: "object",
  clock: "function",
  fetch: "function",
  consent: "boolean",
  onProblem: "function",
} satisfies Record<keyof LetheOptions, string>;

function checkOptions(options: LetheOptions): void {
  for (const name of ["server", "task", "operatorKey"] as const) {
    if (options?.[name] === undefined) throw new TypeError(`openLethe needs the option ${name}`);
  }
  for (const [name, value] of Object.entries(options)) {
    const type = OPTIONS[name];
    if (!Object.hasOwn(OPTIONS, name)) throw new TypeError(`openLethe has no option ${name}`);
    if (value !== undefined && typeof value !== type) throw new TypeError(`the option ${name} is a ${type}`);
  }
}

function defaultStore(what: string): Store {
  if (typeof indexedDB === "undefined") return memoryStore();
  const name = new Uint8Array(16);
  xof("lethe store", new TextEncoder().encode(what))(name);
  return indexedDbStore(encodeBase64url(name));
}
