import { LetheError } from "@lethe/core/device";
import type { Lethe } from "./lethe.ts";
import { onPageHidden } from "./page.ts";
import type { WriterOptions } from "./writer/state.ts";
import { openWriter, type Writer } from "./writer/writer.ts";

/** `openLethe` resolves after this time even if another tab or process writes, or the store is slow. */
const OTHERS_MS = 250;

/** What `openLethe` returns, without `ready`. */
export type Sessions = Pick<Lethe, "record" | "sendPending" | "setConsent" | "inspect" | "close">;

/**
 * The times of consent, one after another. In each session this tab or process waits to be the one that writes, then
 * writes until consent is withdrawn or the program closes. Nothing begins before `setConsent(true)`.
 */
export function createSessions(options: Omit<WriterOptions, "signal">): Sessions {
  const { store, onProblem, onCounting } = options;
  /** Unset while another one writes. */
  let writer: Writer | undefined;
  /** Set while consent holds. Aborted when it is withdrawn; with `true`, for a last write, when the program closes. */
  let session: AbortController | undefined;
  /** Whether the session got the lock. Opening what is stored may take longer than `OTHERS_MS` on a busy machine. */
  let isLocked = false;
  const inTurn = createTurns(onProblem);
  const life = onPageHidden(() => writer?.hide());

  /** Waits to be the one that writes, writes until the signal is aborted, and lets others. */
  async function write(signal: AbortSignal, isOpen: () => void): Promise<void> {
    const release = await store.lock(signal, () => end(false), onProblem);
    if (!release) return;
    isLocked = true;
    try {
      const opened = await openWriter({ ...options, signal });
      if (!signal.aborted) {
        writer = opened;
        store.tabs?.receive(opened.record);
        isOpen();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      await opened.close(signal.reason);
    } finally {
      await release();
    }
  }

  /** At once nothing is counted, asked or written, except for a last write. Resolves when nothing is in progress. */
  function end(isLastWrite: boolean): Promise<void> {
    session?.abort(isLastWrite);
    session = writer = undefined;
    // What others hand over from now on is for the next one.
    store.tabs?.stop();
    return inTurn(async () => {});
  }

  async function start(): Promise<void> {
    const own = new AbortController();
    session = own;
    isLocked = false;
    await new Promise<void>((resolve) => {
      const endOwn = (): void => {
        if (session === own) end(false);
      };
      void inTurn(() => write(own.signal, resolve).finally(endOwn)).then(resolve);
      setTimeout(resolve, OTHERS_MS);
    });
    if (!writer) store.tabs?.listen(onCounting);
    if (session === own && !isLocked && !store.tabs && !store.reportsHolder) {
      onProblem(new LetheError("bad-store", "another one writes to this store: events are dropped"));
    }
  }

  return {
    record(name, times = 1) {
      // Anything but a number may not pass from tab to tab. The writer reports what is not a number of events.
      const event = [String(name), typeof times === "number" ? times : Number.NaN] as const;
      if (writer) writer.record(...event);
      else if (session) store.tabs?.forward(...event);
    },
    sendPending: async () => writer?.sendPending(),
    async setConsent(consent) {
      if (!consent) {
        end(false);
        await inTurn(() => store.wipe());
      } else if (!session) await start();
    },
    inspect: () => writer?.inspect() ?? { stored: undefined, memory: [] },
    close() {
      life.abort();
      end(true);
      return inTurn(() => store.close());
    },
  };
}

/**
 * Sessions, and what comes between them: each begins when nothing of the one before is in progress. Failures are
 * reported.
 */
function createTurns(onProblem: (error: LetheError) => void): (act: () => Promise<void>) => Promise<void> {
  let turn = Promise.resolve();
  return (act) => {
    turn = turn.then(act).catch((error: unknown) => {
      const isKnown = error instanceof LetheError;
      onProblem(isKnown ? error : new LetheError("bad-store", "the store failed", { cause: error }));
    });
    return turn;
  };
}
