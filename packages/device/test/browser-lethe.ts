/// <reference lib="dom" />
import { indexedDbStore, type Lethe, type LetheOptions, openLethe } from "../dist/index.js";
import { brokenStore, type Fault, type ToldStore } from "./broken-stores.ts";

/** A page that uses Lethe. */
const page = {
  lethe: undefined as Lethe | undefined,
  problems: [] as { readonly code: string; readonly message: string }[],

  async open(options: LetheOptions): Promise<void> {
    const onProblem = ({ code, message }: { code: string; message: string }) => page.problems.push({ code, message });
    page.lethe = await openLethe({ ...options, onProblem });
  },

  store: undefined as ToldStore | undefined,
  now: 0,

  /** With a clock that is moved by hand, and a store that may be broken. */
  async openBroken(options: LetheOptions, fault: Fault | undefined): Promise<void> {
    page.store = brokenStore(indexedDbStore("forensics"), fault);
    await page.open({ ...options, store: page.store, clock: () => page.now });
  },

  async live(now: number): Promise<void> {
    page.now = now;
    await page.lethe?.sendPending();
  },

  /** Names are told backwards: so the page alone has them in clear. */
  record(backwards: readonly string[], times: number): void {
    for (const letters of backwards) {
      const name = [...letters].reverse().join("");
      page.lethe?.record(name, times);
      page.store?.onEvent(name, times);
    }
  },
};

declare global {
  var counter: typeof page;
}
globalThis.counter = page;
