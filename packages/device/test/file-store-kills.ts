import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { fileStore } from "../dist/node/index.js";
import { temporaryFolder } from "./file-store-folder.ts";
import { startStoreProcess, TAKE_LOCK } from "./file-store-process.ts";

const RECORD_BYTES = 200_000;
const LONGEST_LIFE_MS = 60;

export interface StoreKillsResult {
  readonly kills: number;
  /** Kills that left an unfinished file. */
  readonly whileWriting: number;
  /** Kills after which the first or the second of the two records was there. */
  readonly found: readonly [number, number];
}

/** Two records of the same size in turn, as fast as it can. */
const SAVE_FOREVER = `${TAKE_LOCK}
  const records = [1, 2].map((value) => new Uint8Array(${RECORD_BYTES}).fill(value));
  for (let i = 0; ; i++) {
    await store.save(records[i % 2], { durable: i % 3 === 0 });
    if (i === 0) console.log("saved");
  }`;

/**
 * A process that saves all the time is killed at random moments. The record is then always one of the two as a whole,
 * and the process that takes the lock next finds nothing else.
 */
export async function surviveStoreKills(kills: number): Promise<StoreKillsResult> {
  const folder = temporaryFolder();
  const found: [number, number] = [0, 0];
  let whileWriting = 0;
  for (let i = 0; i < kills; i++) {
    const writer = startStoreProcess(folder, SAVE_FOREVER);
    try {
      expect([await writer.line(), await writer.line()]).toEqual(["taken", "saved"]);
      await sleep(Math.random() * LONGEST_LIFE_MS);
    } finally {
      await writer.kill();
    }
    const left = readdirSync(folder).toSorted();
    if (left.includes("record.new")) whileWriting++;
    const value = await wholeRecord(folder);
    found[value - 1] = (found[value - 1] ?? 0) + 1;
  }
  return { kills, whileWriting, found };
}

/** Which of the two records there is, once the lock is taken. */
async function wholeRecord(folder: string): Promise<1 | 2> {
  const store = fileStore(folder);
  const release = await store.lock(new AbortController().signal);
  expect(readdirSync(folder).toSorted()).toEqual(["lock", "record"]);
  const record = await store.load();
  expect(readFileSync(`${folder}/record`).equals(record ?? new Uint8Array())).toBe(true);
  await release?.();
  const value = record?.[0];
  expect(record?.length).toBe(RECORD_BYTES);
  expect(record?.every((byte) => byte === value)).toBe(true);
  if (value !== 1 && value !== 2) throw new TypeError("it is a record that nobody saved");
  return value;
}
