/// <reference lib="esnext.disposable" preserve="true" />
import {
  type Budget,
  decodeOperatorKey,
  encodeBase64url,
  type LetheError,
  randomnessFrom,
  xof,
} from "@lethe/core/device";
import { createSessions } from "./sessions.ts";
import { indexedDbStore } from "./store/indexed-db.ts";
import { memoryStore } from "./store/memory.ts";
import type { Store } from "./store/store.ts";
import type { Counting } from "./writer/state.ts";
import type { Inspection } from "./writer/writer.ts";

/** Where to report, for which task, and whose signature counts; the rest has defaults. */
export interface LetheOptions {
  /** The service's http or https address. */
  readonly server: string;
  readonly task: string;
  /** `ed25519:…`, from the operator. Only manifests and keys that this key signed are used. */
  readonly operatorKey: string;
  /** The helper's, `ed25519:…`, exactly if the task has two servers. `server` and `operatorKey` are the leader's. */
  readonly helperKey?: string;
  /**
   * Which of the task's groups this device is in; a task without groups needs none. The service sees it, and it holds
   * from the next enrolment on, for a whole window.
   */
  readonly group?: string;
  /** Default: IndexedDB in a browser, memory elsewhere. For Node see `@lethe/device/node`. */
  readonly store?: Store;
  /** Unix time in milliseconds. */
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  /**
   * The most that the device may spend in any period of `days` days, at a total δ of 10⁻⁶, over all tasks that keep
   * their budgets in one place. If the task has a budget as well, both hold. A report that would spend more is not
   * sent: the problem is `budget-spent`.
   */
  readonly budget?: Budget;
  /** Whether the person in front of the device agrees. Default: true. */
  readonly consent?: boolean;
  /**
   * Gets each problem once, until what failed works again. Without it, problems go to the console, except for what an
   * event caused. The application goes on in any case.
   */
  readonly onProblem?: (error: LetheError) => void;
}

/** Counts events of a task. `Name` are the names of its metrics, as `lethe task types` writes them. */
export interface Lethe<Name extends string = string> extends AsyncDisposable {
  /** Folds an event into the ciphertexts, at once. Never throws for a cause at run time. */
  record(name: Name, times?: number): void;
  /** Resolves when events begin to count, here or in the tab that counts for this one; they are dropped before. */
  readonly ready: Promise<Counting>;
  /** Sends what is sealed now, without waiting for its time. */
  sendPending(): Promise<void>;
  /**
   * Without consent everything is wiped, and nothing is counted or sent: in no tab and no process that shares the
   * store. What is in progress is aborted; nothing of it is left when this resolves. Consent that is given again begins
   * with a new enrolment.
   */
  setConsent(consent: boolean): Promise<void>;
  /** Exactly what somebody who opens the device now would see. */
  inspect(): Inspection;
  /** Writes a last time, and ends. */
  close(): Promise<void>;
}

/**
 * Opens the SDK for a task. Resolves without the network. Rejects for wrong options only, with an error that names the
 * option.
 */
export async function openLethe<Name extends string = string>(options: LetheOptions): Promise<Lethe<Name>> {
  checkOptions(options);
  const { server, task, operatorKey, helperKey, budget } = options;
  decodeOperatorKey(operatorKey, "operatorKey");
  if (helperKey !== undefined) decodeOperatorKey(helperKey, "helperKey");
  if (!/^https?:\/\//.test(server)) throw new TypeError("server is an http or https address");
  if (budget && !(budget.epsilon > 0 && budget.days > 0)) throw new TypeError("the option budget is { epsilon, days }");
  const store = options.store ?? defaultStore(`${server} ${task}`);
  const onDropped = (error: LetheError): void => {
    try {
      options.onProblem?.(error);
    } catch {
      // An error of the application must not stop the count.
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
  const sessions = createSessions({
    ...options,
    fetch: options.fetch ?? fetch.bind(globalThis),
    clock: options.clock ?? Date.now,
    store,
    random: randomnessFrom(globalThis.crypto),
    onProblem,
    onDropped,
    onCounting,
  });
  await sessions.setConsent(options.consent ?? true);
  return { ...sessions, ready, [Symbol.asyncDispose]: sessions.close };
}

/** What each option is. */
const OPTIONS: Readonly<Record<string, string>> = {
  server: "string",
  task: "string",
  operatorKey: "string",
  helperKey: "string",
  group: "string",
  store: "object",
  clock: "function",
  fetch: "function",
  consent: "boolean",
  budget: "object",
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
