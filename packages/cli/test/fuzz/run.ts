import { setFlagsFromString } from "node:v8";
import { runInNewContext, Script } from "node:vm";
import { chooseForTests } from "./choose.ts";
import { type Outcome, tryInput, tryNow } from "./judge.ts";
import { shrunk } from "./shrink.ts";
import { inputOf, type Target } from "./target.ts";

/** An input that takes this long hangs, and is interrupted; a busy machine takes many times longer than an idle one. */
const HANG_MS = 120_000;
/** What may be left on the heap after a run, more than after its first tenth. */
const MOST_GROWTH = 8e6;
const BATCH = 200;

/** An input that a decoder did not survive. */
export interface Failure {
  readonly target: string;
  readonly what: string;
  /** Base64url, as small as it could be made. */
  readonly input: string;
  /** Which input of which seed it was before that. */
  readonly from: string;
}

/** How a run went. */
export interface RunResult {
  readonly target: string;
  readonly runs: number;
  /** How many were accepted; the others were refused with a named error. */
  readonly accepted: number;
  /** Of processor time, so that it does not depend on what else the machine does. */
  readonly seconds: number;
  /** Bytes on the heap and in buffers at the end, less those after a tenth. */
  readonly growth: number;
  readonly failures: readonly Failure[];
}

/** Which inputs to try: those of a seed, from one number on. */
export interface RunOptions {
  readonly seed: number;
  readonly from: number;
  readonly runs: number;
  readonly onProgress?: (at: number) => void;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** After collections that see what the first ones let go of; buffers are freed a moment later. */
async function heldBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** An input that is slow once was unlucky; one that is slow three times is slow. */
async function confirmed(target: Target, input: Uint8Array, first: string): Promise<string | undefined> {
  for (let i = 0; i < 2; i++) {
    const again = await tryInput(target, input);
    if (typeof again === "string") return undefined;
    if (!again.wrong.startsWith("took")) return again.wrong;
  }
  return first;
}

declare global {
  var lethefuzzBatch: (() => void) | undefined;
}
const interruptible = new Script("globalThis.lethefuzzBatch()");

/** Runs a decoder on mutated inputs. Stops at five failures. */
export async function run(target: Target, { seed, from, runs, onProgress }: RunOptions): Promise<RunResult> {
  const failures: Failure[] = [];
  const started = process.cpuUsage();
  let accepted = 0;
  let at = from;
  let baseline = 0;
  const note = async (number: number, outcome: Outcome): Promise<void> => {
    if (outcome === "accepted") accepted++;
    if (typeof outcome === "string") return;
    const input = inputAt(target, seed, number);
    const what = outcome.wrong.startsWith("took") ? await confirmed(target, input, outcome.wrong) : outcome.wrong;
    if (what === undefined) return;
    const small = await shrunk(target, input, what);
    const found = { target: target.name, what, input: Buffer.from(small).toString("base64url") };
    failures.push({ ...found, from: `seed ${seed}, number ${number}` });
  };
  while (at < from + runs && failures.length < 5) {
    const end = Math.min(from + runs, at + BATCH);
    const pending: { number: number; outcome: Outcome | Promise<Outcome> }[] = [];
    globalThis.lethefuzzBatch = () => {
      while (at < end) {
        const number = at++;
        const outcome = tryNow(target, inputAt(target, seed, number));
        if (outcome === "accepted") accepted++;
        else if (outcome !== "refused") pending.push({ number, outcome });
        if (outcome instanceof Promise) return;
      }
    };
    try {
      interruptible.runInThisContext({ timeout: HANG_MS });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const input = Buffer.from(inputAt(target, seed, at - 1)).toString("base64url");
      failures.push({ target: target.name, what: "hangs", input, from: `seed ${seed}, number ${at - 1}` });
    }
    for (const { number, outcome } of pending) await note(number, await outcome);
    onProgress?.(at);
    if (baseline === 0 && at - from >= runs / 10) baseline = await heldBytes();
  }
  const used = process.cpuUsage(started);
  const seconds = (used.user + used.system) / 1e6;
  const growth = (await heldBytes()) - baseline;
  if (growth > MOST_GROWTH) failures.push(leak(target, growth, at - from));
  return { target: target.name, runs: at - from, accepted, seconds, growth, failures };
}

function leak({ name }: Target, growth: number, runs: number): Failure {
  return { target: name, what: `holds ${growth} bytes more after ${runs} inputs`, input: "", from: "all" };
}

/** The input of this seed with this number. */
export function inputAt(target: Target, seed: number, number: number): Uint8Array {
  return inputOf(target, chooseForTests(seed, number, number / 2 ** 32));
}
