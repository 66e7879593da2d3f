import { randomBytes } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { TOKEN_BYTES } from "@lethe/core/message";
import type { Database } from "../storage/database.ts";
import { addDevices, type NewDevice } from "../storage/devices.ts";
import type { SpareDevice } from "../storage/spare-keys.ts";
import { lockShard } from "../storage/window-shards.ts";
import type { WindowIdentity } from "../storage/windows.ts";
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
  /** How many devices this database takes. */
  readonly most: number;
}

/** `full` if the window has no place left. */
type Decision = Decided<"enrolled" | "full">;

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
    /** How many databases share the devices of a window. */
    readonly databasesOf: (window: WindowIdentity) => number;
  },
): (window: WindowIdentity, address: string, group: number) => Promise<Enrolled> {
  const { keys, networks, mostPerWindow, databasesOf } = options;
  const { submit } = createGroupCommit<Request, Decision>((requests) =>
    database.shards.borrow(async (shard) => {
      database.guard?.requireRoom(requests.length * DEVICE_ROOM_BYTES);
      const decided = new Map<Request, Decision>();
      for (const windowId of new Set(requests.map((request) => request.windowId))) {
        const ofWindow = requests.filter((request) => request.windowId === windowId);
        const enrolled = await enrolAll(database, windowId, shard, ofWindow);
        for (const [i, request] of ofWindow.entries()) decided.set(request, enrolled[i] as Decision);
      }
      return requests.map((request) => decided.get(request) as Decision);
    }),
  );

  async function enrol(window: WindowIdentity, group: number): Promise<Enrolled> {
    const spare = await keys.take(window);
    const uploadToken = randomBytes(TOKEN_BYTES).toString("base64url");
    // If the commit fails, the device may be enrolled: nobody else gets its keys.
    const request = {
      ...{ windowId: window.id, group, device: spare.device, tokenHash: hashOf(uploadToken) },
      most: Math.ceil(mostPerWindow / databasesOf(window)),
    };
    const decided = await submit(request, window.name);
    if (decided === "enrolled") return { ...spare, uploadToken };
    keys.giveBack(window, spare);
    if (decided !== "full") throw decided;
    throw new LetheError("rate-limited", `at most ${mostPerWindow} devices enrol in a window, and it has them`);
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

/** As a rule the window has this shard and places for all: then one statement is enough. */
async function enrolAll(
  database: Database,
  windowId: number,
  shard: number,
  devices: readonly Request[],
): Promise<Decision[]> {
  const most = Math.max(...devices.map((device) => device.most));
  const added = await addDevices(database, windowId, shard, most, devices);
  const enrolled = devices.slice(0, added).map(() => "enrolled" as const);
  if (added === devices.length) return enrolled;
  return database.transaction(async (transaction) => {
    const isOpen = await lockShard(transaction, windowId, shard);
    const rest = devices.slice(added);
    const more = isOpen ? await addDevices(transaction, windowId, shard, most, rest) : 0;
    const refusal = isOpen ? "full" : new LetheError("window-closed", "this window is closed");
    return [...enrolled, ...rest.map((_, i) => (i < more ? "enrolled" : refusal))];
  });
}
