import type { LetheOptions, Store } from "../src/index.ts";

/** Everything that the SDK waits for, in steps: each begins, and each is done before the SDK hears of it. */
export interface Pace {
  /** How many steps there were. */
  readonly steps: number;
  /** Called at every step; the SDK waits for it. */
  onStep: (step: number, what: string) => Promise<void> | void;
  store(inner: Store): Store;
  fetch(inner: typeof fetch): NonNullable<LetheOptions["fetch"]>;
  /** WebCrypto of this thread, until `restore` is called. */
  crypto(): { restore(): void };
}

/** What else there is of WebCrypto comes between these. */
const CRYPTO = ["verify", "deriveBits", "encrypt"] as const;

export function createPace(): Pace {
  let steps = 0;

  async function paced<T>(what: string, act: () => Promise<T>): Promise<T> {
    await pace.onStep(steps++, `${what} begins`);
    try {
      return await act();
    } finally {
      await pace.onStep(steps++, `${what} ends`);
    }
  }

  /** Calls are passed on in their order, as a store promises. */
  function queued(): typeof paced {
    let last: Promise<unknown> = Promise.resolve();
    return (what, act) => {
      const before = last;
      const result = paced(what, async () => {
        await before;
        return act();
      });
      last = result.catch(() => undefined);
      return result;
    };
  }

  const pace: Pace = {
    get steps() {
      return steps;
    },
    onStep: () => {},
    store: (inner) => {
      const inOrder = queued();
      return {
        ...inner,
        lock: (signal, onWithdrawn) => paced("lock", () => inner.lock(signal, onWithdrawn)),
        load: () => inOrder("load", () => inner.load()),
        save: (record, how) => {
          const copy = record.slice();
          return inOrder(how.durable ? "durable save" : "save", () => inner.save(copy, how));
        },
        wipe: () => inner.wipe(),
        budget: (change, signal) => paced("budget", async () => inner.budget?.(change, signal)),
      };
    },
    fetch: (inner) => async (input, init) => {
      const what = init?.method ?? "GET";
      const response = await paced(what, () => inner(input, init));
      const text = await paced(`the body of ${what}`, () => response.text());
      return new Response(text === "" ? null : text, response);
    },
    crypto: () => {
      const { subtle } = globalThis.crypto;
      for (const name of CRYPTO) {
        const real = (subtle[name] as (...args: unknown[]) => Promise<unknown>).bind(subtle);
        Object.defineProperty(subtle, name, {
          configurable: true,
          value: (...args: unknown[]) => paced(name, () => real(...args)),
        });
      }
      return {
        restore: () => {
          for (const name of CRYPTO) Reflect.deleteProperty(subtle, name);
        },
      };
    },
  };
  return pace;
}
