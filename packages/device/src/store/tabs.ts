import type { Counting } from "../writer/state.ts";
import type { Tabs } from "./store.ts";

/**
 * An event under a random id, for the writer with this address; or: the event with this id is folded in; or: the writer
 * has this address, and counts in this window; or: one that waits asks who writes.
 */
type Message =
  | readonly [to: string | undefined, id: string, name: string, times: number]
  | string
  | readonly [writer: string, counting: Counting | undefined]
  | 0;

/** The same, for the store that made it. */
export interface ClosableTabs extends Tabs {
  close(): void;
}

/** An event that no writer has acknowledged, and the addresses that it was sent to. */
interface Kept {
  readonly event: readonly [name: string, times: number];
  readonly to: Set<string | undefined>;
}

/**
 * Hands events from the tabs that wait to the one that writes. A writer has a random address, a new one each time that
 * it begins to take events, and announces it. A tab sends each event at most once to each address, and keeps it in
 * memory, in clear, until a writer acknowledges it; a new address gets all that is kept. A writer folds in what bears
 * its address and acknowledges it in the same turn. It answers everything else with its address. So nobody needs a
 * history: once an event is acknowledged, neither tab holds anything that depends on it, not even a number.
 *
 * What can happen:
 * - A writer ends, or its page is left, before it takes an event: the next writer gets it. If the tab that sent it
 *   closes before that, the event is lost.
 * - A writer takes an event and crashes before it saves: the event is lost, as are the writer's own.
 * - A writer takes an event, saves and ends, and the sender learns of the next writer before it gets the
 *   acknowledgement, or is that writer: the event is counted twice. For that, a later message or the lock must overtake
 *   the acknowledgement, which another tab sent earlier. If messages and locks keep their order, every event that is
 *   not lost is counted once. Where they do not, no protocol helps: the writer may be gone, and its sender can only
 *   choose between counting twice and losing.
 */
export function tabsOf(channelName: string): ClosableTabs {
  const channel = new BroadcastChannel(channelName);
  const life = new AbortController();
  /** By id. */
  const kept = new Map<string, Kept>();
  /** The address that events are sent to. */
  let writer: string | undefined;
  /** Of the writer, while it takes events. */
  let own: string | undefined;
  let fold: ((name: string, times: number) => void) | undefined;
  let counting: Counting | undefined;
  /** Of one that waits. */
  let hear: ((counting: Counting) => void) | undefined;

  const post = (message: Message) => channel.postMessage(message);
  const send = ({ event, to }: Kept, id: string) => {
    if (!to.has(writer)) post([writer, id, ...event]);
    to.add(writer);
  };
  const greet = () => own && post([own, counting]);
  const take = () => {
    own = fold && crypto.randomUUID();
    greet();
  };

  channel.onmessage = ({ data }) => {
    const [address, what, name, times] = data || [];
    if (typeof data === "string") kept.delete(data);
    else if (!data || name !== undefined) {
      if (address && address === own) {
        fold?.(name, times);
        post(what);
      } else greet();
    } else {
      writer = address;
      kept.forEach(send);
      if (what) hear?.(what);
    }
  };
  // A page that closes runs on for a moment after it has saved: what comes then is left for the next writer.
  addEventListener(
    "pagehide",
    () => {
      own = undefined;
    },
    life,
  );
  addEventListener("pageshow", take, life);

  const stop = () => {
    kept.clear();
    fold = own = counting = undefined;
  };
  return {
    forward(name, times) {
      const id = crypto.randomUUID();
      const entry: Kept = { event: [name, times], to: new Set() };
      kept.set(id, entry);
      send(entry, id);
    },
    receive(onEvent) {
      for (const { event } of kept.values()) onEvent(...event);
      kept.clear();
      fold = onEvent;
      take();
    },
    announce(now) {
      counting = now;
      greet();
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
