import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { LetheError } from "@lethe/core/error";
import { encodeBase64url, TOKEN_BYTES } from "@lethe/core/message";
import type { Database, Queryable } from "../storage/database.ts";
import { addToAddress, enrolledFrom, handOutDevices, lockSpareDevices, type SpareDevice } from "../storage/devices.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createGroupCommit } from "./group-commit.ts";
import { networkOf } from "./network.ts";
import { type Decided, decidePerWindow } from "./per-window.ts";
import { hashOf } from "./token.ts";
import { withinWindow } from "./window-limit.ts";

export interface Enrolled extends SpareDevice {
  readonly uploadToken: string;
}

interface Request {
  readonly windowId: number;
  /** A pseudonym that holds for this window only. */
  readonly address: Uint8Array;
  readonly token: string;
}

/** A device's row, and the next one's keys. */
const DEVICE_ROOM_BYTES = 4000;
const POOL_PATIENCE_MS = 3000;
const POOL_POLL_MS = 50;

/** Gives a device its id, its keys and an upload token; when it resolves the device is enrolled. */
export function createEnrolment(
  database: Database,
  options: {
    readonly mostPerAddress: number;
    readonly mostPerWindow: number;
    /** The pool is being used up. */
    readonly onTaken: () => void;
  },
): (window: WindowIdentity, address: string) => Promise<Enrolled> {
  const { submit } = createGroupCommit<Request, Decided<Enrolled>>(async (requests) => {
    database.guard?.requireRoom(requests.length * DEVICE_ROOM_BYTES);
    return decidePerWindow(database, requests, (transaction, windowId, ofWindow, window) =>
      withinWindow(options.mostPerWindow, window, ofWindow, (admitted) =>
        enrolInWindow(transaction, windowId, options.mostPerAddress, admitted),
      ),
    );
  });
  return async (window, address) => {
    const request = {
      windowId: window.id,
      address: hashOf(Buffer.concat([window.commitment, Buffer.from(networkOf(address))])),
      token: encodeBase64url(randomBytes(TOKEN_BYTES)),
    };
    const deadline = Date.now() + POOL_PATIENCE_MS;
    for (;;) {
      const enrolled = await submit(request);
      options.onTaken();
      if (!(enrolled instanceof LetheError)) return enrolled;
      if (enrolled.code !== "no-keys-left" || Date.now() > deadline) throw enrolled;
      await sleep(POOL_POLL_MS);
    }
  };
}

async function enrolInWindow(
  transaction: Queryable,
  windowId: number,
  mostPerAddress: number,
  requests: readonly Request[],
): Promise<Decided<Enrolled>[]> {
  const spares = await lockSpareDevices(transaction, windowId, requests.length);
  const addresses = new Map<string, { address: Uint8Array; before: number; now: number }>();
  const taken: { device: Uint8Array; tokenHash: Uint8Array }[] = [];
  const results: Decided<Enrolled>[] = [];
  for (const { address, token } of requests) {
    const key = encodeBase64url(address);
    const count = addresses.get(key) ?? {
      address,
      before: await enrolledFrom(transaction, windowId, address),
      now: 0,
    };
    addresses.set(key, count);
    const spare = spares[taken.length];
    if (count.before + count.now >= mostPerAddress) {
      const detail = `an address enrols at most ${mostPerAddress} devices in a window`;
      results.push(new LetheError("rate-limited", detail));
    } else if (!spare) {
      results.push(new LetheError("no-keys-left", "no device keys are ready: try again in a moment"));
    } else {
      count.now++;
      taken.push({ device: spare.device, tokenHash: hashOf(token) });
      results.push({ ...spare, uploadToken: token });
    }
  }
  await handOutDevices(transaction, windowId, taken);
  for (const { address, now } of addresses.values()) await addToAddress(transaction, windowId, address, now);
  return results;
}
