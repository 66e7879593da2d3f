import { cpus } from "node:os";
import { median } from "../arithmetic/averages.ts";
import type { EncryptedCounting } from "../fhe/counting.ts";
import { createLetheCounting } from "../fhe/lethe-counting.ts";
import { loadNodeTfhe } from "../fhe/node-tfhe.ts";
import { type BooleanParameters, createTfheBit, createTfheByte } from "../fhe/tfhe-counting.ts";
import { type Plot, renderSvg } from "../plot/index.ts";
import type { Experiment, Finding, Surroundings, Table } from "./experiment.ts";
import { rough as roughly, whole } from "./figures.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

/** What is measured, and how often. */
export interface FheSize {
  readonly bit: BooleanParameters;
  /** Whether to measure the eight-bit number too: making its keys takes as long as everything else together. */
  readonly withByte: boolean;
  /** Of Lethe: how many counters at once, and how many ticks in a window. */
  readonly letheCounters: readonly number[];
  readonly ticks: number;
  /** Updates of each system; their median time is reported. */
  readonly updates: { readonly byte: number; readonly bit: number; readonly lethe: number };
}

/** A day of five-minute ticks. */
const TICKS_A_DAY = 288;

const DEFAULT_SIZE: FheSize = {
  bit: "standard",
  withByte: true,
  letheCounters: [1, 1000],
  ticks: TICKS_A_DAY,
  updates: { byte: 1, bit: 9, lethe: 201 },
};

/** What one system costs a device. */
export interface FheRow {
  readonly system: string;
  readonly counters: number;
  readonly stateBytes: number;
  readonly keyBytes: number;
  readonly updateMicroseconds: number;
  readonly keySeconds: number;
  /** Of TFHE: whether the owner of the secret key finds in the state what had happened. */
  readonly correct?: boolean;
  readonly onlyPart?: string;
}

/** All systems, measured in one run. */
export interface FheResult {
  readonly rows: readonly FheRow[];
  /** The machine on which the times were measured. */
  readonly machine: string;
}

/** Measures all systems. */
export async function runFhe(size: FheSize, { random, progress }: Surroundings): Promise<FheResult> {
  const { updates, ticks } = size;
  const tfhe = await loadNodeTfhe();
  const candidates: readonly (readonly [updates: number, create: () => EncryptedCounting])[] = [
    ...(size.withByte ? [[updates.byte, () => createTfheByte(tfhe)] as const] : []),
    [updates.bit, () => createTfheBit(tfhe, size.bit)],
    [updates.lethe, () => createLetheCounting("elgamal", 1, ticks, random)],
    ...size.letheCounters.map(
      (counters) => [updates.lethe, () => createLetheCounting("lattice", counters, ticks, random)] as const,
    ),
  ];
  const rows: FheRow[] = [];
  for (const [count, create] of candidates) {
    progress(rows.length / candidates.length);
    rows.push(measure(create, count));
  }
  progress(1);
  return { rows, machine: thisMachine() };
}

function thisMachine(): string {
  return `${cpus()[0]?.model.trim() || "unknown processor"}, Node ${process.versions.node}`;
}

/** Sets a system up and times its updates; the event happens in every tick that is timed. */
function measure(create: () => EncryptedCounting, updates: number): FheRow {
  const started = performance.now();
  const counting = create();
  const keySeconds = (performance.now() - started) / 1000;
  const { system, counters, stateBytes, keyBytes, onlyPart } = counting;
  const before = counting.read?.();
  const times = Array.from({ length: updates }, () => {
    const start = performance.now();
    counting.update(true);
    return 1000 * (performance.now() - start);
  });
  // The event must still be in the state after a tick without one.
  if (onlyPart === undefined) counting.update(false);
  const updateMicroseconds = median(times);
  return {
    ...{ system, counters, stateBytes, keyBytes, updateMicroseconds, keySeconds },
    ...(counting.read && { correct: before === false && counting.read() }),
    ...(onlyPart !== undefined && { onlyPart }),
  };
}

const rough = (value: number): string => roughly(value, 2);

function fheTable({ rows }: FheResult): Table {
  return {
    columns: ["system", "state, bytes", "per counter", "key, bytes", "update, µs", "per counter", "set-up, s"],
    rows: rows.map((row) => [
      row.system,
      whole(row.stateBytes),
      rough(row.stateBytes / row.counters),
      whole(row.keyBytes),
      `${row.onlyPart === undefined ? "" : "over "}${whole(row.updateMicroseconds)}`,
      rough(row.updateMicroseconds / row.counters),
      rough(row.keySeconds),
    ]),
    words: 1,
  };
}

/** The reading: what the figures say. */
function readingOf({ rows, machine }: FheResult): string {
  const wrong = rows.filter(({ correct }) => correct === false).map(({ system }) => system);
  const checked = rows.filter(({ correct }) => correct).map(({ system }) => `“${system}”`);
  const lethe = rows.filter(({ system }) => system.startsWith("Lethe"));
  const tfhe = rows.filter((row) => !lethe.includes(row));
  /** The smallest of TFHE's, divided by the largest of Lethe's. */
  const ratio = (cost: (row: FheRow) => number): number => Math.min(...tfhe.map(cost)) / Math.max(...lethe.map(cost));
  const time = ratio(({ updateMicroseconds }) => updateMicroseconds);
  const keys = ratio(({ keyBytes }) => keyBytes);
  const states = ratio(({ stateBytes, counters }) => stateBytes / counters);
  const day = (among: readonly FheRow[]): string =>
    among.map((row) => `${rough((row.updateMicroseconds * TICKS_A_DAY) / 1e6)} s (${row.system})`).join(", ");
  return [
    wrong.length === 0
      ? `The event was found in the state of ${checked.join(", ")}.`
      : `These states were WRONG: ${wrong.join(", ")}.`,
    `${time > 1 && keys > 1 ? "FHE is overkill" : "The claim does NOT hold here"}: the cheapest update under TFHE takes ${rough(time)} times as long as Lethe's slowest, and its smallest keys are ${rough(keys)} times as large as Lethe's largest.`,
    `A counter's state is ${states > 1 ? "larger, too" : "not always larger"}: TFHE's smallest is ${rough(states)} times the size of Lethe's largest.`,
    `A day of five-minute ticks keeps a processor busy for ${day(tfhe)}; ${day(lethe)}.`,
    ...tfhe.flatMap(({ system, onlyPart }) =>
      onlyPart === undefined ? [] : [`Of “${system}” only a part is timed: ${onlyPart}.`],
    ),
    `The times were measured on one machine (${machine}), in JavaScript and WebAssembly; native code would be faster for all of them.`,
  ].join(" ");
}

function fhePlot({ rows }: FheResult): Plot {
  return {
    title: "What a device pays for counting something it cannot read",
    x: { label: "key and state that a device holds, bytes", scale: "log" },
    y: { label: "microseconds for an update", scale: "log" },
    lines: rows.map(({ system, keyBytes, stateBytes, updateMicroseconds }) => ({
      name: system,
      points: [[keyBytes + stateBytes, updateMicroseconds]],
    })),
  };
}

const ABOUT = wrapMarkdown(`
There is a generic way to make *any* counter pan-private: encrypt the device's state with **fully homomorphic
encryption** and compute on the ciphertext from then on. The paper mentions it and calls it overkill: "FHE schemes incur
a large space and time overhead". It gives no figures. Here are some.

The generic route runs on [TFHE-rs](https://github.com/zama-ai/tfhe-rs), as npm has it (\`node-tfhe\`, WebAssembly). The
state is one encrypted bit: has it happened? In every tick, event or not, the device encrypts the tick's bit under the
server's public key and ORs it into the state. It must not use the bit in the clear: an OR gate draws no randomness, so
an intruder who sees the state before and after simply tries both values. Each gate ends in a bootstrapping, which makes
the noise small again, so the number of ticks has no limit. For this a device must hold the public key and the
evaluation key, here in its compressed form.

\`node-tfhe\` is made for clients: it makes keys, encrypts and decrypts, but has no gates. So the OR gate is ours, in
TypeScript, on the library's own keys and ciphertexts, and the library decrypts the result. The other row, a number of
eight bits, runs on the library alone and therefore stops short. The event is encrypted and bootstrapped to the key
under which one would compute. The addition, several bootstrappings more, is left out, so the time is a lower bound.

Lethe's rows are the counters that devices run. An update is a tick with an event and a write. Pan-privacy asks for this
in every system here: fresh randomness in everything that is stored. All systems are measured in the same run, so that a
slow machine is slow for all of them. Lethe's counters can do far less than TFHE's, of course. That is the point:
counting needs no more.
`);

/** Tables, picture and reading from the figures. */
export function describeFhe(result: FheResult): Finding {
  return {
    json: result,
    tables: [fheTable(result)],
    reading: readingOf(result),
    svg: renderSvg(fhePlot(result)),
  };
}

/** What fully homomorphic encryption would cost a device. */
export const fhe: Experiment = {
  about: ABOUT,
  check: async () => void (await loadNodeTfhe()),
  run: async (surroundings) => describeFhe(await runFhe(DEFAULT_SIZE, surroundings)),
};
