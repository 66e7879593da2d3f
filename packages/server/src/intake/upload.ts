import { createHash, timingSafeEqual } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { decodeReport, encodeBase64url } from "@lethe/core/message";
import type { Database, Queryable } from "../storage/database.ts";
import { addReports, findSenders, type NewReport } from "../storage/reports.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createGroupCommit } from "./group-commit.ts";
import { type Decided, decidePerWindow } from "./per-window.ts";

export interface Upload {
  readonly window: WindowIdentity;
  readonly task: TaskVersion;
  readonly device: Uint8Array;
  /** As the client sent it. */
  readonly token: string;
  readonly body: Uint8Array;
}

/** `again`: these very bytes were there already. */
export type Receipt = "stored" | "again";

interface Arrival extends NewReport {
  readonly windowId: number;
  readonly tokenHash: Uint8Array;
}

/** SHA-256: tokens and reports are long and unguessable, so a plain hash does. */
export function hashOf(bytes: Uint8Array | string): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

/**
 * Takes in reports, each once. Only what everybody can see decides: whether the window takes reports, whether the device is
 * enrolled and the token its own, and the report's header. It resolves after the commit.
 */
export function createUpload(database: Database): {
  readonly upload: (upload: Upload) => Promise<Receipt>;
  readonly isBusy: () => boolean;
} {
  const { submit, isBusy } = createGroupCommit<Arrival, Decided<Receipt>>((arrivals) =>
    decidePerWindow(database, arrivals, storeInWindow),
  );
  return {
    isBusy,
    upload: async ({ window, task, device, token, body }) => {
      decodeReport(task.layout, task.hash, body);
      const tokenHash = hashOf(token);
      const receipt = await submit({ windowId: window.id, device, tokenHash, digest: hashOf(body), body });
      if (receipt instanceof LetheError) throw receipt;
      return receipt;
    },
  };
}

async function storeInWindow(
  transaction: Queryable,
  windowId: number,
  arrivals: readonly Arrival[],
): Promise<Decided<Receipt>[]> {
  const senders = await findSenders(
    transaction,
    windowId,
    arrivals.map(({ device }) => device),
  );
  // The same report may be in this group more than once.
  const digests = new Map<string, Uint8Array>();
  const fresh: NewReport[] = [];
  const receipts = arrivals.map((arrival, i): Decided<Receipt> => {
    const sender = senders.get(i);
    if (!sender) return new LetheError("unknown-device", "this device is not enrolled in this window");
    if (!timingSafeEqual(sender.tokenHash, arrival.tokenHash)) {
      return new LetheError("unauthorized", "this is not the upload token that the device was given");
    }
    const id = encodeBase64url(arrival.device);
    const before = digests.get(id) ?? sender.digest;
    if (!before) {
      digests.set(id, arrival.digest);
      fresh.push(arrival);
      return "stored";
    }
    if (timingSafeEqual(before, arrival.digest)) return "again";
    return new LetheError("report-differs", "this device has sent another report before; the first one counts");
  });
  await addReports(transaction, windowId, fresh);
  return receipts;
}
