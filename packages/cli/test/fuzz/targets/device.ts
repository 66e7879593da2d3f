import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headerOf, xof } from "@lethe/core/device";
import { LetheError } from "@lethe/core/error";
import { layoutOf } from "@lethe/core/message";
import { takeLock } from "@lethe/files";
import { decodeLedger, EMPTY, encodeLedger, pay } from "../../../../device/dist/budget/ledger.js";
import { openLethe, type Store } from "../../../../device/dist/index.js";
import { fileStore } from "../../../../device/dist/node/index.js";
import { decodeRecord, encodeRecord } from "../../../../device/dist/record-codec.js";
import { decodeVersion, encodeVersion } from "../../../../device/dist/store/version.js";
import { type Target, Violation } from "../target.ts";
import { bytesOf, enrolled, jsonBytes, ONE_SERVER, OPERATOR, type Running, textOf, WINDOW } from "./fixtures.ts";

const BLOCK = 4096;
/** How long the SDK gets to read a record; one that is refused makes it wait for the network. */
const MOST_WAIT_MS = 20;
const folder = mkdtempSync(join(tmpdir(), "lethe-fuzz-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** What a device stores that runs in one window and has the sealed report of the one before. */
function recordOf(task: Running): Uint8Array {
  const device = enrolled(task, layoutOf(task.manifest));
  const { publicKeys, states, report } = device;
  const window = { manifest: 0, device: device.device, token: "a-token", tick: 3 * WINDOW };
  const nothing = new Uint8Array();
  const record = {
    last: WINDOW,
    manifests: [task.signed],
    windows: [
      { ...window, window: WINDOW - 1, publicKeys: new Uint8Array(16), state: nothing, report },
      { ...window, window: WINDOW, publicKeys, state: new Uint8Array(Buffer.concat(states)), report: nothing },
    ],
  };
  return encodeRecord(record, OPERATOR.key, BLOCK);
}

const HEADER = 6;

/** The head in clear, behind its length; then the parts: what is masked cannot be mutated with any sense. */
function unmasked(record: Uint8Array): Uint8Array {
  const length = new DataView(record.buffer, record.byteOffset).getUint32(2, true);
  const copy = record.slice(2);
  mask(copy.subarray(4, 4 + length));
  return copy;
}

function mask(head: Uint8Array): void {
  const stream = new Uint8Array(head.length);
  xof("lethe device record", bytesOf(OPERATOR.key))(stream);
  for (let i = 0; i < head.length; i++) head[i] = (head[i] as number) ^ (stream[i] as number);
}

/** Masks the head, whose length is put right: what the mutations did to the JSON is reached. */
function masked(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(content.length + 2);
  bytes.set(headerOf(0x44));
  bytes.set(content, 2);
  if (content.length < 4) return bytes;
  const view = new DataView(bytes.buffer);
  const end = textOf(content).indexOf("]]]");
  if (end > 0) view.setUint32(2, Buffer.from(content).indexOf("]]]") + 3 - 4, true);
  mask(bytes.subarray(HEADER, HEADER + view.getUint32(2, true)));
  return bytes;
}

function recordTargets(): Target[] {
  const tasks = ONE_SERVER.filter(({ name }) => /^(occurrence|histogram)/.test(name));
  const records = tasks.map(recordOf);
  const common = { covers: ["decodeRecord"], kind: "bytes", examples: records.map(unmasked), seal: masked } as const;
  return [
    {
      ...common,
      name: "device record",
      errors: ["bad-encoding"],
      // "Throws for whatever is not a record": the writer makes one named error of it, which the next target shows.
      otherErrors: ["SyntaxError", "TypeError", "RangeError"],
      inCi: 3000,
      run: (input) => {
        const record = decodeRecord(input, OPERATOR.key);
        const again = decodeRecord(encodeRecord(record, OPERATOR.key, BLOCK), OPERATOR.key);
        if (JSON.stringify(again) !== JSON.stringify(record))
          throw new Violation("is another when it is written again");
        return undefined;
      },
    },
    {
      ...common,
      name: "device record, at the SDK",
      covers: ["openLethe"],
      errors: [],
      inCi: 60,
      run: async (input) => {
        await openOn(input);
        return undefined;
      },
    },
  ];
}

/** Opens the SDK on a stored record, records an event, and closes it. Problems may be named errors only. */
async function openOn(stored: Uint8Array): Promise<void> {
  let record = stored;
  const store: Store = {
    lock: async () => async () => undefined,
    load: async () => record,
    save: async (bytes) => {
      record = bytes;
    },
    wipe: async () => undefined,
    close: async () => undefined,
  };
  const problems: Error[] = [];
  const lethe = await openLethe({
    ...{ server: "http://127.0.0.1:1", task: "fuzzed", operatorKey: OPERATOR.key, store },
    clock: () => (WINDOW * 180 + 130) * 1000,
    fetch: () => Promise.reject(new TypeError("there is no network")),
    onProblem: (problem) => problems.push(problem),
  });
  lethe.record("crashed");
  await Promise.race([lethe.ready, new Promise((resolve) => setTimeout(resolve, MOST_WAIT_MS))]);
  await lethe.close();
  const other = problems.find((problem) => !(problem instanceof LetheError));
  if (other) throw new Violation(`reports ${other.message}, which is no named error`);
}

function budgetTargets(): Target[] {
  const paid = [1, 2, 3].map((n) => [`receipt ${n}`, 86_400 * n, 1, 0, 0]);
  const answer = { receipt: "new", ends: 86_400 * 4, cost: [1, 0, 0] } as const;
  const spent = pay(EMPTY, answer, [{ epsilon: 3, days: 7 }]) ?? EMPTY;
  const contents = [spent, EMPTY].map((ledger) => decodeVersion(encodeLedger(ledger))?.record ?? new Uint8Array());
  return [
    {
      name: "budget record",
      covers: ["decodeLedger"],
      kind: "json",
      examples: [...contents, jsonBytes([null, 86_400, paid])],
      errors: [],
      seal: (record) => encodeVersion({ generation: 0, record }),
      run: (input) => {
        const ledger = decodeLedger(input, 1000);
        pay(ledger, answer, [{ epsilon: 3, days: 7 }]);
        const text = encodeLedger(ledger);
        if (Buffer.compare(encodeLedger(decodeLedger(text, 1000)), text) !== 0) {
          throw new Violation("is another when it is written again");
        }
        return undefined;
      },
    },
    {
      name: "version of a record",
      covers: ["decodeVersion"],
      kind: "bytes",
      examples: [0, 1, 100].map((length) => encodeVersion({ generation: length, record: new Uint8Array(length) })),
      errors: ["bad-state"],
      seal: (content) => {
        const check = new Uint8Array(16);
        xof("lethe version", content.subarray(16))(check);
        return new Uint8Array(Buffer.concat([check, content.subarray(16)]));
      },
      run: (input) => {
        const version = decodeVersion(input);
        if (version === undefined) throw new LetheError("bad-state", "is no version");
        if (Number.isNaN(version.generation)) return undefined;
        const again = encodeVersion(version);
        // Bytes that a longer version left behind it are ignored.
        return Buffer.concat([again, input.subarray(again.length)]);
      },
    },
  ];
}

/** A lock file that somebody else wrote, and the files of a device's store. */
function fileTargets(): Target[] {
  const [lock, stored] = [join(folder, "lock"), join(folder, "store")];
  const store = fileStore(stored);
  const owners = [
    { pid: process.pid, started: "1", namespace: "pid:[1]" },
    { pid: 2 ** 22 + 1, started: "1", nonce: "00" },
    { pid: 1, started: "" },
  ];
  return [
    {
      name: "lock file",
      covers: ["takeLock"],
      kind: "json",
      examples: owners.map(jsonBytes),
      errors: [],
      inCi: 800,
      run: (input) => {
        writeFileSync(lock, input);
        const taken = takeLock(lock);
        if ("release" in taken) taken.release();
        else if (taken.heldBy === "") throw new Violation("is held by nobody");
        return undefined;
      },
    },
    {
      name: "file of a device",
      covers: ["fileStore"],
      kind: "bytes",
      examples: [bytesOf("a record"), recordOf(ONE_SERVER[0] as Running)],
      errors: ["bad-store"],
      inCi: 300,
      run: async (input) => {
        const end = await store.lock(new AbortController().signal);
        try {
          await store.save(bytesOf("before"), { durable: false });
          writeFileSync(join(stored, "record"), input);
          return await store.load();
        } finally {
          await end?.();
        }
      },
    },
  ];
}

/** What a device stores, and what programs on one machine leave for each other. */
export async function deviceTargets(): Promise<Target[]> {
  return [...recordTargets(), ...budgetTargets(), ...fileTargets()];
}
