import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { encodeBase64url, TOKEN_BYTES } from "@lethe/core/message";
import type { Database, Queryable } from "../storage/database.ts";
import { handOutDevices, lockSpareDevices, type SpareDevice, type TakenDevice } from "../storage/devices.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { NetworkLimit } from "./network-limit.ts";
import { type Decided, decidePerWindow } from "./per-window.ts";
import { hashOf } from "./token.ts";
import { withinWindow } from "./window-limit.ts";

/** A device that was just enrolled: its id, its keys, and its upload token. */
export interface Enrolled extends SpareDevice {
  readonly uploadToken: string;
}

interface Request {
  readonly windowId: number;
  readonly token: string;
  readonly group: number;
}

/** A device's row, and the next one's keys. */
const DEVICE_ROOM_BYTES = 4000;
const POOL_PATIENCE_MS = 3000;
const POOL_POLL_MS = 50;

/**
 * Gives a device its id, its keys and an upload token, and notes its group; when it resolves the device is enrolled.
 */
export function createEnrolment(
  database: Database,
  options: {
    readonly networks: Pick<NetworkLimit, "count">;
    readonly mostPerWindow: number;
    /** The pool is being used up. */
    readonly onTaken: () => void;
  },
): (window: WindowIdentity, address: string, group: number) => Promise<Enrolled> {
  const { submit } = createGroupCommit<Request, Decided<Enrolled>>(async (requests) => {
    database.guard?.requireRoom(requests.length * DEVICE_ROOM_BYTES);
    return decidePerWindow(database, requests, (transaction, windowId, ofWindow, window) =>
      withinWindow(options.mostPerWindow, window, ofWindow, (admitted) =>
        enrolInWindow(transaction, windowId, admitted),
      ),
    );
  });

  async function takeDevice(window: WindowIdentity, group: number): Promise<Enrolled> {
    const request = { windowId: window.id, group, token: encodeBase64url(randomBytes(TOKEN_BYTES)) };
    const deadline = performance.now() + POOL_PATIENCE_MS;
    for (;;) {
      const enrolled = await submit(request);
      options.onTaken();
      if (!(enrolled instanceof LetheError)) return enrolled;
      if (enrolled.code !== "no-keys-left" || performance.now() > deadline) throw enrolled;
      await sleep(POOL_POLL_MS);
    }
  }

  return async (window, address, group) => {
    const takeBack = options.networks.count(window, address);
    try {
      return await takeDevice(window, group);
    } catch (error) {
      // If the database failed, the device may be enrolled: it stays counted.
      if (error instanceof LetheError) takeBack();
      throw error;
    }
  };
}

async function enrolInWindow(
  transaction: Queryable,
  windowId: number,
  requests: readonly Request[],
): Promise<Decided<Enrolled>[]> {
  const spares = await lockSpareDevices(transaction, windowId, requests.length);
  const taken: TakenDevice[] = [];
  const results: Decided<Enrolled>[] = [];
  for (const { token, group } of requests) {
    const spare = spares[taken.length];
    if (!spare) {
      results.push(new LetheError("no-keys-left", "no device keys are ready: try again in a moment"));
    } else {
      taken.push({ device: spare.device, tokenHash: hashOf(token), group });
      results.push({ ...spare, uploadToken: token });
    }
  }
  await handOutDevices(transaction, windowId, taken);
  return results;
}
