import { parentPort } from "node:worker_threads";
import { createTurns } from "../async/in-turn.ts";
import { loadRistretto } from "../ristretto/libsodium.ts";
import type { Bundle } from "../storage/spare-keys.ts";
import { type Call, createWork } from "./work.ts";

/** The result of a call, as a message. */
export type Outcome = { readonly result: unknown } | { readonly error: string };

const port = parentPort;
if (!port) throw new TypeError("this file runs as a worker thread");

const perform = createWork(await loadRistretto());

// One after another, also where a function waits for something: the end of one wipes what the next would use.
const inTurn = createTurns();
port.on("message", (call: Call) => void inTurn(() => answer(call)));

async function answer(call: Call): Promise<void> {
  try {
    const result = await perform(call);
    // Copying a bundle would take longer than to hand it over.
    const handedOver = call[0] === "issue" ? Object.values(result as Bundle).map(({ buffer }) => buffer) : [];
    port?.postMessage({ result } satisfies Outcome, handedOver);
  } catch (error) {
    port?.postMessage({ error: error instanceof Error ? error.message : String(error) } satisfies Outcome);
  }
}
