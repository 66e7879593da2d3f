import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import type { Database } from "../storage/database.ts";
import { claimSpareKeys, KEYS_PER_BUNDLE, poolOf, type SpareDevice } from "../storage/spare-keys.ts";
import { findWindow, type WindowIdentity } from "../storage/windows.ts";

/** The keys that this process has claimed for devices to come. */
export interface KeyStock {
  /** Keys that nobody else has; waits up to 3 s until there are some, or 10 s for a database that does not answer. */
  readonly take: (window: WindowIdentity) => Promise<SpareDevice>;
  /** Returns keys that certainly no device has got. */
  readonly giveBack: (window: WindowIdentity, spare: SpareDevice) => void;
  /** Drops the keys of all windows that nobody can enrol in any more. */
  readonly keepOnly: (isOpen: (window: WindowIdentity) => boolean) => void;
}

interface Waiting {
  readonly deadline: number;
  readonly resolve: (spare: SpareDevice) => void;
  readonly reject: (error: unknown) => void;
}

interface WindowStock {
  readonly window: WindowIdentity;
  readonly spares: SpareDevice[];
  /** In the order in which they came. */
  readonly waiting: Set<Waiting>;
  /** Keys that were taken since the last claim began. */
  taken: number;
  isClaiming: boolean;
}

const PATIENCE_MS = 3000;
const LONGEST_MS = 10_000;
const POLL_MS = 20;
const MOST_BUNDLES = 16;

/**
 * Claims keys from the pools in bundles, ahead of the devices that get them, so that an enrolment does not wait for the
 * pool. A claim is committed before the first of its keys is used, and no other process can claim them: no key goes to
 * two devices. Keys of a process that ends are wasted.
 */
export function createKeyStock(
  database: Database,
  /** The pools are being used up. */
  onClaimed: () => void,
): KeyStock {
  const stocks = new Map<number, WindowStock>();

  function stockOf(window: WindowIdentity): WindowStock {
    const known = stocks.get(window.id);
    if (known) return known;
    const made: WindowStock = { window, spares: [], waiting: new Set(), taken: 0, isClaiming: false };
    stocks.set(window.id, made);
    return made;
  }

  /** Claims as many as were taken since the last claim, and more if devices wait. */
  async function claim(stock: WindowStock): Promise<void> {
    const { window, spares } = stock;
    const wanted = Math.max(stock.taken, stock.waiting.size);
    const bundles = Math.min(MOST_BUNDLES, Math.max(1, Math.ceil(wanted / KEYS_PER_BUNDLE)));
    stock.taken = 0;
    const claimed = await claimSpareKeys(database, window.id, poolOf(database), bundles);
    onClaimed();
    spares.push(...claimed);
    serve(stock);
    if (claimed.length > 0 || stock.waiting.size === 0) return;
    // A device that asks for a closed window need not wait for keys, which nobody makes any more.
    // A database besides the first may not have its part of the window yet.
    const part = await findWindow(database, window.name, window.number);
    if (part && part.state !== "collecting") {
      rejectAll(stock, new LetheError("window-closed", "this window is closed"));
    }
    await sleep(POLL_MS);
    const now = performance.now();
    for (const { deadline, reject } of stock.waiting) if (deadline < now) reject(noKeysLeft());
  }

  async function claimWhileWanted(stock: WindowStock): Promise<void> {
    if (stock.isClaiming) return;
    stock.isClaiming = true;
    try {
      do await claim(stock);
      while (stock.waiting.size > 0);
    } catch (error) {
      rejectAll(stock, error);
    } finally {
      stock.isClaiming = false;
    }
  }

  return {
    take: (window) => {
      const stock = stockOf(window);
      return new Promise((resolve, reject) => {
        wait(stock, resolve, reject);
        serve(stock);
        if (stock.waiting.size > 0 || stock.spares.length < stock.taken) void claimWhileWanted(stock);
      });
    },
    giveBack: (window, spare) => {
      stocks.get(window.id)?.spares.push(spare);
    },
    keepOnly: (isOpen) => {
      for (const [id, { window, waiting }] of stocks) if (waiting.size === 0 && !isOpen(window)) stocks.delete(id);
    },
  };
}

const noKeysLeft = (): LetheError => new LetheError("no-keys-left", "no device keys are ready: try again in a moment");

/** Until there are keys, or the database has found none for too long, or has not answered. */
function wait({ waiting }: WindowStock, resolve: Waiting["resolve"], reject: Waiting["reject"]): void {
  const end = (): void => {
    clearTimeout(timer);
    waiting.delete(own);
  };
  const own: Waiting = {
    deadline: performance.now() + PATIENCE_MS,
    resolve: (spare) => {
      end();
      resolve(spare);
    },
    reject: (error) => {
      end();
      reject(error);
    },
  };
  const timer = setTimeout(() => own.reject(noKeysLeft()), LONGEST_MS);
  waiting.add(own);
}

function serve(stock: WindowStock): void {
  const { spares, waiting } = stock;
  for (const next of waiting) {
    const spare = spares.pop();
    if (!spare) return;
    next.resolve(spare);
    stock.taken++;
  }
}

function rejectAll({ waiting }: WindowStock, error: unknown): void {
  for (const { reject } of waiting) reject(error);
}
