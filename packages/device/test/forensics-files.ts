import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LetheError } from "@lethe/core/error";
import { expect } from "vitest";
import type { TestService } from "../../server/test/service.ts";
import { openLethe, type Store } from "../dist/index.js";
import { fileStore } from "../dist/node/index.js";
import { brokenStore, type Fault } from "./broken-stores.ts";
import { temporaryFolder } from "./file-store-folder.ts";
import {
  bytesIn,
  clearTextIn,
  type Found,
  NAMES,
  newTask,
  TIMES,
  tellApart,
  throughWindow,
  toNextWindow,
} from "./forensics.ts";

/** Programs with events in every tick and as many without, each with its own folder, at the same time. */
export async function examineFiles(
  service: TestService,
  each: number,
  { fault, scheme }: { readonly fault?: Fault; readonly scheme?: "lattice" | "elgamal" } = {},
): Promise<Found> {
  const { url: server, operatorKey, clock } = service;
  const task = await newTask(service, scheme);
  await toNextWindow(service, task);
  const disk = temporaryFolder();
  const problems: LetheError[] = [];
  const onProblem = (problem: LetheError) => problems.push(problem);
  const devices = await Promise.all(
    Array.from({ length: 2 * each }, async (_, i) => {
      const folder = join(disk, `${i}`);
      const store = brokenStore(copying(folder), fault);
      const lethe = await openLethe({ server, task, operatorKey, clock, store, onProblem });
      return { lethe, store, folder, happened: i % 2 === 0 };
    }),
  );
  await throughWindow(service, {
    task,
    live: async () => void (await Promise.all(devices.map(({ lethe }) => lethe.sendPending()))),
    isEnrolled: async () => devices.every(({ lethe }) => lethe.inspect().memory.length > 0),
    record: async () => {
      for (const { lethe, store, happened } of devices) {
        for (const name of happened ? NAMES : []) {
          lethe.record(name, TIMES);
          store.onEvent(name, TIMES);
        }
      }
    },
  });
  await Promise.all(devices.map(({ lethe }) => lethe.close()));
  // More events happen than there is room for.
  expect(problems.filter(({ code }) => !["no-keys-left", "events-dropped"].includes(code))).toEqual([]);
  const runs = devices.map(({ happened, folder }) => {
    return { happened, versions: versionsIn(folder), diskBytes: bytesIn(folder) };
  });
  return tellApart(runs, operatorKey, clearTextIn(disk));
}

/** As a file system would that never frees a block: each version of the file is kept, by its number. */
function copying(folder: string): Store {
  const store = fileStore(join(folder, "store"));
  mkdirSync(join(folder, "versions"), { recursive: true });
  let saves = 0;
  return {
    ...store,
    save: async (record, how) => {
      await store.save(record, how);
      cpSync(join(folder, "store", "record"), join(folder, "versions", `${1000 + saves++}`));
    },
  };
}

function versionsIn(folder: string): Uint8Array[] {
  const names = readdirSync(join(folder, "versions")).toSorted();
  return names.map((name) => new Uint8Array(readFileSync(join(folder, "versions", name))));
}
