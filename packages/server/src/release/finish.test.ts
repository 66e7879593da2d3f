import { expect, it } from "vitest";
import { eraseWindow } from "../../dist/release/finish.js";
import type { KeyFile } from "../../dist/tally/key-file.js";
import { temporaryFolder } from "../../test/folder.ts";
import { createStore } from "../../test/store.ts";

it.each([0, 1_000_000])(
  "erasing a window with %i devices leaves those of others, whatever their ids",
  async (enrolled) => {
    const store = await createStore(temporaryFolder());
    const database = await store.open();
    const destroyed: string[] = [];
    const keyFile = { destroyWindow: (task: string, window: number) => void destroyed.push(`${task} ${window}`) };
    try {
      for (let first = 0; first < 256; first++) {
        for (const windowId of [1, 2]) {
          const device = Uint8Array.of(first, windowId, ...new Array<number>(14).fill(255));
          await database.query("INSERT INTO devices (device, window_id) VALUES ($1, $2)", [device, windowId]);
          await database.query("INSERT INTO reports (device, window_id, body) VALUES ($1, $2, $1)", [device, windowId]);
          await database.query("INSERT INTO uncounted (device, window_id) VALUES ($1, $2)", [device, windowId]);
        }
      }
      const window = { id: 1, taskId: 1, name: "erased", number: 7, state: "released", received: 0, enrolled } as const;
      await eraseWindow(database, keyFile as unknown as KeyFile, { ...window, commitment: new Uint8Array(32) });
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
