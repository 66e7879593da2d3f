import { expect, it } from "vitest";
import { eraseWindow } from "../../dist/release/erase.js";
import type { Database } from "../../dist/storage/database.js";
import { claimErasure, readWindow, type WindowRow } from "../../dist/storage/windows.js";
import type { KeyFile } from "../../dist/tally/key-file.js";
import { temporaryFolder } from "../../test/folder.ts";
import { createStore } from "../../test/store.ts";

/** The only one in the database. */
async function addWindow(database: Database, state: string, enrolled: number): Promise<WindowRow> {
  const [task] = await database.query<{ id: number }>(
    "INSERT INTO tasks (name, version, from_window, manifest, signature) VALUES ($1, 1, 0, '{}', $2) RETURNING id",
    ["erased", new Uint8Array(64)],
  );
  const [window] = await database.query<{ id: number }>(
    `INSERT INTO windows (task_id, name, number, state, enrolled, secret_commitment)
     VALUES ($1, 'erased', 7, $2, $3, $4) RETURNING id`,
    [task?.id ?? 0, state, enrolled, new Uint8Array(32)],
  );
  return readWindow(database, window?.id ?? 0);
}

/** Remembers what was destroyed. */
function keyFileFor(destroyed: string[]): KeyFile {
  const destroyWindow = (task: string, window: number): unknown => destroyed.push(`${task} ${window}`);
  return { destroyWindow } as unknown as KeyFile;
}

const goOn = (): boolean => false;

it("a window that the database does not know as released keeps its secret, one that another erases is left to it", async () => {
  const store = await createStore(temporaryFolder());
  const database = await store.open();
  const destroyed: string[] = [];
  const parts = { database, keyFile: keyFileFor(destroyed), leaseSeconds: 60 };
  try {
    const window = await addWindow(database, "closed", 1);
    expect(await eraseWindow(parts, { ...window, state: "released" }, goOn)).toBe(false);
    expect(destroyed).toEqual([]);
    await database.query("UPDATE windows SET state = 'released' WHERE id = $1", [window.id]);
    await database.query("INSERT INTO devices (device, window_id, token_hash) VALUES ($1, $2, '')", [
      new Uint8Array(16),
      window.id,
    ]);
    expect(await claimErasure(database, window.id, new Uint8Array(16), 60)).toBe(true);
    expect(await eraseWindow(parts, window, goOn)).toBe(false);
    expect(destroyed).toEqual(["erased 7"]);
    expect(await database.query("SELECT count(*) AS n FROM devices")).toEqual([{ n: 1 }]);
    expect(await claimErasure(database, window.id, new Uint8Array(16), -1)).toBe(true);
    expect(await eraseWindow(parts, { ...window, enrolled: 1_000_000 }, () => true)).toBe(false);
    expect(await eraseWindow(parts, window, goOn)).toBe(true);
    expect(await database.query("SELECT count(*) AS n FROM devices")).toEqual([{ n: 0 }]);
  } finally {
    await database.close();
    await store.remove();
  }
});

it.each([0, 1_000_000])(
  "erasing a window with %i devices leaves those of others, whatever their ids",
  async (enrolled) => {
    const store = await createStore(temporaryFolder());
    const database = await store.open();
    const destroyed: string[] = [];
    const parts = { database, keyFile: keyFileFor(destroyed), leaseSeconds: 60 };
    try {
      const window = await addWindow(database, "released", enrolled);
      expect(window.id).toBe(1);
      for (let first = 0; first < 256; first++) {
        for (const windowId of [1, 2]) {
          const device = Uint8Array.of(first, windowId, ...new Array<number>(14).fill(255));
          await database.query("INSERT INTO devices (device, window_id, token_hash) VALUES ($1, $2, '')", [
            device,
            windowId,
          ]);
          await database.query("INSERT INTO reports (device, window_id, body) VALUES ($1, $2, $1)", [device, windowId]);
          await database.query("INSERT INTO uncounted (device, window_id) VALUES ($1, $2)", [device, windowId]);
        }
      }
      expect(await eraseWindow(parts, window, goOn)).toBe(true);
      for (const table of ["devices", "reports", "uncounted"]) {
        const rows = await database.query(`SELECT window_id, count(*) AS n FROM ${table} GROUP BY window_id`);
        expect(rows).toEqual([{ window_id: 2, n: 256 }]);
      }
      expect(destroyed).toEqual(["erased 7"]);
    } finally {
      await database.close();
      await store.remove();
    }
  },
);
