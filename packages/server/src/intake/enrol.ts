import { randomBytes } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { TOKEN_BYTES } from "@lethe/core/message";
import type { Database } from "../storage/database.ts";
import { addDevices, type NewDevice } from "../storage/devices.ts";
import type { SpareDevice } from "../storage/spare-keys.ts";
import { readWindow, type WindowIdentity } from "../storage/windows.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { KeyStock } from "./key-stock.ts";
import type { NetworkLimit } from "./network-limit.ts";
import type { Decided } from "./per-window.ts";
import { hashOf } from "./token.ts";

/** A device that was just enrolled: its id, its keys, and its upload token. */
export interface Enrolled extends SpareDevice {
  readonly uploadToken: string;
}

interface Request extends NewDevice {
  readonly windowId: number;
}

/** A device's row. */
const DEVICE_ROOM_BYTES = 400;

/**
 * Gives a device its id, its keys and an upload token, and notes its group; when it resolves the device is enrolled.
 */
export function createEnrolment(
  database: Database,
  options: {
    readonly networks: Pick<NetworkLimit, "count">;
    readonly keys: Pick<KeyStock, "take" | "giveBack">;
    readonly mostPerWindow: number;
  },
): (window: WindowIdentity, address: string, group: number) => Promise<Enrolled> {
  const { keys, networks, mostPerWindow } = options;
  const { submit } = createGroupCommit<Request, Decided<"enrolled">>(async (requests) => {
    database.guard?.requireRoom(requests.length * DEVICE_ROOM_BYTES);
    const decided = new Map<Request, Decided<"enrolled">>();
    for (const windowId of new Set(requests.map((request) => request.windowId))) {
      const ofWindow = requests.filter((request) => request.windowId === windowId);
      const added = await addDevices(database, windowId, mostPerWindow, ofWindow);
      const refusal = added < ofWindow.length ? await refusalOf(database, windowId, mostPerWindow) : undefined;
      for (const [i, request] of ofWindow.entries()) decided.set(request, i < added || !refusal ? "enrolled" : refusal);
    }
    return requests.map((request) => decided.get(request) as Decided<"enrolled">);
  });

  async function enrol(window: WindowIdentity, group: number): Promise<Enrolled> {
    const spare = await keys.take(window);
    const uploadToken = randomBytes(TOKEN_BYTES).toString("base64url");
    // If the commit fails, the device may be enrolled: nobody else gets its keys.
    const request = { windowId: window.id, group, device: spare.device, tokenHash: hashOf(uploadToken) };
    const decided = await submit(request, window.name);
    if (decided === "enrolled") return { ...spare, uploadToken };
    keys.giveBack(window, spare);
    throw decided;
  }

  return async (window, address, group) => {
    const takeBack = networks.count(window, address);
    try {
      return await enrol(window, group);
    } catch (error) {
      // If the database failed, the device may be enrolled: it stays counted.
      if (error instanceof LetheError) takeBack();
      throw error;
    }
  };
}

/** Why a window does not take a device. */
async function refusalOf(database: Database, windowId: number, mostPerWindow: number): Promise<LetheError> {
  const { state } = await readWindow(database, windowId);
  return state === "collecting"
    ? new LetheError("rate-limited", `at most ${mostPerWindow} devices enrol in a window, and it has them`)
    : new LetheError("window-closed", "this window is closed");
}
