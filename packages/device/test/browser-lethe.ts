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

  /** With a clock that is moved manually, from `now` on. */
  async openAt(now: number, options: LetheOptions): Promise<void> {
    page.now = now;
    await page.open({ ...options, clock: () => page.now });
  },

  /** Of all that this page wrote to localStorage. */
  localSizes: [] as number[],

  store: undefined as ToldStore | undefined,
  now: 0,

  /** With a clock that is moved manually, and a store that may be broken. */
  async openBroken(options: LetheOptions, fault: Fault | undefined): Promise<void> {
    page.store = brokenStore(indexedDbStore("forensics"), fault);
    await page.open({ ...options, store: page.store, clock: () => page.now });
  },

  async live(now: number): Promise<void> {
    page.now = now;
    await page.lethe?.sendPending();
  },

  /** Names are passed backwards: so the page alone has them in clear. */
  record(backwards: readonly string[], times: number): void {
    for (const letters of backwards) {
      const name = [...letters].reverse().join("");
      page.lethe?.record(name, times);
      page.store?.onEvent(name, times);
    }
  },
};

const { setItem } = Storage.prototype;
Storage.prototype.setItem = function (key, value) {
  page.localSizes.push(value.length);
  setItem.call(this, key, value);
};

declare global {
  var counter: typeof page;
}
globalThis.counter = page;
