import type { Counting } from "../writer/state.ts";
import type { Tabs } from "./store.ts";

/**
 * An event, with its number and that of the oldest event its sender keeps; or: all events of a sender below a number
 * are folded in; or: there is a new writer; or: the writer counts in this window; or: one that waits asks whether it
 * does.
 */
type Message =
  | readonly [sender: string, number: number, oldest: number, name: string, times: number]
  | readonly [sender: string, below: number]
  | readonly []
  | Counting
  | 0;

/** The same, for the store that made it. */
export interface ClosableTabs extends Tabs {
  close(): void;
}

/**
 * Hands events from the tabs that wait to the one that writes. A tab numbers what it sends and keeps it in memory until
 * a writer has folded it in; a new writer asks for all that is kept. A writer takes the events of a tab in their order,
 * each once, whatever it missed before it listened.
 *
 * Events are lost if their tab closes while there is no writer, or if the writer that took them crashes before it
 * saves.
 */
export function tabsOf(channelName: string): ClosableTabs {
  const channel = new BroadcastChannel(channelName);
  const life = new AbortController();
  const self = crypto.randomUUID();
  const kept: (readonly [name: string, times: number])[] = [];
  let oldest = 0;
  /** By sender, the number that comes next. */
  const next = new Map<string, number>();
  let fold: ((name: string, times: number) => void) | undefined;
  let isHidden = false;
  /** Of the writer. */
  let counting: Counting | undefined;
  /** Of one that waits. */
  let hear: ((counting: Counting) => void) | undefined;

  const post = (message: Message) => channel.postMessage(message);
  const postKept = (from: number) =>
    kept.slice(from).forEach(([name, times], i) => {
      post([self, oldest + from + i, oldest, name, times]);
    });

  channel.onmessage = ({ data }) => {
    if (data === 0) return fold && counting && post(counting);
    if (data.until) return hear?.(data);
    const [sender, number, oldestKept, name, times] = data;
    if (!fold) {
      if (!sender) postKept(0);
      if (sender === self) while (oldest < number && kept.shift()) oldest++;
    } else if (name !== undefined && !isHidden) {
      let expected = Math.max(next.get(sender) ?? 0, oldestKept);
      // A later one follows events that were sent before this writer listened: they come again, and it after them.
      if (number === expected) {
        fold(name, times);
        next.set(sender, ++expected);
      }
      post([sender, expected]);
    }
  };
  // A page that closes runs on for a moment after it has saved: what comes then is left for the next writer.
  const onPage = ({ type }: { readonly type: string }) => {
    isHidden = type === "pagehide";
    if (!isHidden && fold) post([]);
  };
  for (const type of ["pagehide", "pageshow"]) addEventListener(type, onPage, life);

  const takeKept = () => {
    oldest += kept.length;
    return kept.splice(0);
  };
  const stop = () => {
    takeKept();
    fold = counting = undefined;
  };
  return {
    forward(name, times) {
      postKept(kept.push([name, times]) - 1);
    },
    receive(onEvent) {
      for (const event of takeKept()) onEvent(...event);
      fold = onEvent;
      post([]);
    },
    announce(now) {
      counting = now;
      post(now);
    },
    listen(onCounting) {
      hear = onCounting;
      post(0);
    },
    stop,
    close() {
      stop();
      life.abort();
      channel.close();
    },
  };
}
