/// <reference lib="dom" />
import { describe, expect, it, vi } from "vitest";
import { type ClosableTabs, tabsOf } from "./tabs.ts";

/**
 * Models of a broadcast channel, in which messages take any time. Browsers pass messages through one process: whatever
 * one tab says after another is heard after it, by everybody. With an order per pair only, what one tab says later may
 * overtake what another has said.
 */
type Order = "one order" | "an order per pair";

/** A number below `below`; the same sequence for every seed. Mulberry32. */
function choicesForTests(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type ModelledTab = ClosableTabs & { readonly page: EventTarget };

interface Model {
  open(): ModelledTab;
  /** When it has heard what was said before, as the grant of a lock does that another tab has released. */
  later(tab: ModelledTab, act: () => void): void;
  /** Delivers one message of those that may come next; false if there is none. */
  deliver(): boolean;
}

function createModel(order: Order, choose: (below: number) => number): Model {
  /** By receiver and, with an order per pair, by sender. */
  const queues = new Map<string, (() => void)[]>();
  const channels: ModelledChannel[] = [];
  const numbers = new Map<ModelledTab, number>();
  const enqueue = (to: number, from: number | "lock", act: () => void): void => {
    const key = order === "one order" ? `${to}` : `${to} ${from}`;
    queues.set(key, [...(queues.get(key) ?? []), act]);
  };
  class ModelledChannel {
    readonly number = channels.push(this) - 1;
    onmessage: ((message: { readonly data: unknown }) => void) | null = null;
    isClosed = false;
    postMessage(message: unknown): void {
      for (const to of channels.filter((channel) => channel !== this)) {
        const data = structuredClone(message);
        enqueue(to.number, this.number, () => to.isClosed || to.onmessage?.({ data }));
      }
    }
    close(): void {
      this.isClosed = true;
    }
  }
  return {
    open() {
      const page = new EventTarget();
      vi.stubGlobal("BroadcastChannel", ModelledChannel);
      vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
      const tab = { ...tabsOf("model"), page };
      vi.unstubAllGlobals();
      numbers.set(tab, channels.length - 1);
      return tab;
    },
    later: (tab, act) => enqueue(numbers.get(tab) ?? Number.NaN, "lock", act),
    deliver() {
      const waiting = [...queues.values()].filter(({ length }) => length > 0);
      waiting[choose(waiting.length)]?.shift()?.();
      return waiting.length > 0;
    },
  };
}

/** How often each event was folded in. Tabs send; writers are hidden, shown, ended and replaced. */
function countsAfter(order: Order, seed: number): number[] {
  const choose = choicesForTests(seed);
  const { open, later, deliver } = createModel(order, choose);
  const waiting = Array.from({ length: 4 }, open);
  const counts: number[] = [];
  const fold = (name: string): void => {
    counts[Number(name)] = (counts[Number(name)] ?? 0) + 1;
  };
  let writer: ModelledTab | undefined;
  const begin = (tab: ModelledTab): void =>
    later(tab, () => {
      tab.receive(fold);
      writer = tab;
    });
  begin(open());
  const acts: (() => void)[] = [
    ...Array.from({ length: 8 }, () => () => {
      waiting[choose(waiting.length)]?.forward(`${counts.push(0) - 1}`, 1);
    }),
    () => writer?.page.dispatchEvent(new Event(choose(2) ? "pagehide" : "pageshow")),
    () => writer?.announce({ window: 1, until: 1 }),
    () => waiting[choose(waiting.length)]?.listen(() => {}),
    () => {
      if (!writer) return;
      if (choose(2)) writer.close();
      else writer.stop();
      writer = undefined;
      // One that may have events of its own, or one that has just opened.
      begin((choose(2) && waiting.length > 1 && waiting.pop()) || open());
    },
  ];
  for (let turn = 0; turn < 150; turn++) {
    acts[choose(acts.length)]?.();
    for (let left = choose(DELIVERIES); left > 0; left--) deliver();
  }
  while (deliver());
  writer?.page.dispatchEvent(new Event("pageshow"));
  while (deliver());
  return counts;
}

/** At most so many messages between two acts. */
const DELIVERIES = 30;
const RUNS = 50;
const all = (order: Order): number[] => Array.from({ length: RUNS }, (_, seed) => countsAfter(order, seed)).flat();

describe("while writers come and go", () => {
  it("each event is counted exactly once, if a channel has one order for all", () => {
    const counts = all("one order");
    expect(counts.length).toBeGreaterThan(50 * RUNS);
    expect(counts.filter((count) => count !== 1)).toEqual([]);
  });

  it("none is lost, and some are counted twice, if a channel keeps the order per pair of tabs only", () => {
    const counts = all("an order per pair");
    const share = (wanted: (count: number) => boolean): number => counts.filter(wanted).length / counts.length;
    console.log(JSON.stringify({ events: counts.length, lost: share((n) => n < 1), twice: share((n) => n > 1) }));
    expect(share((count) => count < 1)).toBe(0);
    expect(share((count) => count > 1)).toBeGreaterThan(0);
  });
});
