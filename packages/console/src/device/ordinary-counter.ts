import type { Device } from "@lethe/lab/duel";

/** How applications usually count: a file of JSON, which is written when something happens. */
export interface OrdinaryCounter {
  /** Writes the count of an event, and when it happened first and last. */
  record(name: string, milliseconds: number): void;
  readonly text: string;
  /** The same as bytes: what is in its file. */
  readonly bytes: Uint8Array;
  readonly writes: number;
}

interface Counted {
  count: number;
  readonly first: string;
  last: string;
}

/** A counter whose file is empty. */
export function createOrdinaryCounter(): OrdinaryCounter {
  const counts: Record<string, Counted> = {};
  let text = "{}";
  let writes = 0;
  return {
    record: (name, milliseconds) => {
      const last = new Date(milliseconds).toISOString();
      const counted = counts[name] ?? { count: 0, first: last, last };
      counts[name] = { ...counted, count: counted.count + 1, last };
      text = JSON.stringify(counts, undefined, 2);
      writes++;
    },
    get text() {
      return text;
    },
    get bytes() {
      return new TextEncoder().encode(text);
    },
    get writes() {
      return writes;
    },
  };
}

const TICK_MS = 300_000;
/** What is clicked in the game. */
const EVENT = "button.clicked";

/** The same as a device of the game. Its ticks take five minutes, as a device's do; an event happens half-way. */
export function counterDevice(begins: number, segments: number): Device {
  const counter = createOrdinaryCounter();
  return {
    segments,
    parts: "elements",
    live: (tick, happens) => {
      if (happens) counter.record(EVENT, begins + (tick + 0.5) * TICK_MS);
      const { bytes } = counter;
      return { dump: bytes, stored: happens ? [{ bytes, at: 0.5 }] : [] };
    },
  };
}
