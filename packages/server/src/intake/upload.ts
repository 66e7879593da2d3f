import { timingSafeEqual } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { protocolOf } from "../protocol/protocol.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { type Arrival, addReports, findSenders, type Sender } from "../storage/reports.ts";
import type { TaskVersion } from "../storage/tasks.ts";
import type { WindowIdentity } from "../storage/windows.ts";
import { createGroupCommit } from "./group-commit.ts";
import { type Decided, decidePerWindow } from "./per-window.ts";
import { hashOf } from "./token.ts";

/** A report, as a device sent it. */
export interface Upload {
  readonly window: WindowIdentity;
  readonly task: TaskVersion;
  readonly device: Uint8Array;
  /** As the client sent it. */
  readonly token: string;
  readonly body: Uint8Array;
}

/** What became of a report; `again` means that exactly these bytes were stored before. */
export type Receipt = "stored" | "again";

interface NamedArrival extends Arrival {
  /** The device's id, as a text. */
  readonly name: string;
}

interface WindowArrival extends NamedArrival {
  readonly windowId: number;
}

/**
 * Takes in reports, each once. Only what everybody can see decides: whether the window takes reports, whether the
 * device is enrolled and the token its own, and the report's header. It resolves after the commit.
 */
export function createUpload(database: Database): {
  readonly upload: (upload: Upload) => Promise<Receipt>;
  readonly isBusy: () => boolean;
} {
  const { submit, isBusy } = createGroupCommit<WindowArrival, Decided<Receipt>>(
    (arrivals) => database.shards.borrow((shard) => storeAll(database, shard, arrivals)),
    ({ body }) => body.length,
  );
  return {
    isBusy,
    upload: async ({ window, task, device, token, body }) => {
      protocolOf(task).requireReport(body);
      const tokenHash = hashOf(token);
      const arrival = { windowId: window.id, device, name: nameOf(device), tokenHash, body };
      const receipt = await submit(arrival, window.name);
      if (receipt instanceof LetheError) throw receipt;
      return receipt;
    },
  };
}

/**
 * As a rule the window has this shard, and every report is its device's first and comes with the right token: then one
 * statement is enough. The others are checked one by one.
 */
async function storeAll(
  database: Database,
  shard: number,
  arrivals: readonly WindowArrival[],
): Promise<Decided<Receipt>[]> {
  database.guard?.requireRoom(arrivals.reduce((sum, { body }) => sum + body.length, 0));
  const stored = new Set<Arrival>();
  for (const windowId of new Set(arrivals.map(({ windowId }) => windowId))) {
    const firsts = firstOfEach(arrivals.filter((arrival) => arrival.windowId === windowId));
    const devices = new Set((await addReports(database, windowId, shard, firsts)).map(nameOf));
    for (const arrival of firsts) if (devices.has(arrival.name)) stored.add(arrival);
  }
  const others = arrivals.filter((arrival) => !stored.has(arrival));
  const decided = others.length > 0 ? await decidePerWindow(database, shard, others, storeInWindow) : [];
  const receipts = new Map(others.map((arrival, i) => [arrival, decided[i] as Decided<Receipt>]));
  return arrivals.map((arrival) => receipts.get(arrival) ?? "stored");
}

/** The first arrival of every device. */
function firstOfEach<A extends NamedArrival>(arrivals: readonly A[]): A[] {
  const firsts = new Map<string, A>();
  for (const arrival of arrivals) if (!firsts.has(arrival.name)) firsts.set(arrival.name, arrival);
  return [...firsts.values()];
}

/**
 * Stores a group together. A device that is in it more than once has its turns one after another; as a rule the first
 * settles the others, without the database.
 */
async function storeInWindow(
  transaction: Queryable,
  windowId: number,
  shard: number,
  arrivals: readonly NamedArrival[],
): Promise<Decided<Receipt>[]> {
  const receipts = new Map<Arrival, Decided<Receipt>>();
  const senders = new Map<string, Sender | undefined>();
  let waiting = arrivals;
  while (waiting.length > 0) {
    const round = firstOfEach(waiting);
    const stored = new Set((await addReports(transaction, windowId, shard, round)).map(nameOf));
    const refused = round.filter(({ name }) => !stored.has(name));
    const found = await findSenders(
      transaction,
      windowId,
      refused.map(({ device }) => device),
    );
    for (const [i, { name }] of refused.entries()) senders.set(name, found.get(i));
    for (const arrival of round) {
      if (stored.has(arrival.name)) {
        senders.set(arrival.name, arrival);
        receipts.set(arrival, "stored");
      }
    }
    waiting = waiting.filter((arrival) => {
      if (receipts.has(arrival)) return false;
      const receipt = receiptWithoutStoring(senders.get(arrival.name), arrival);
      if (receipt) receipts.set(arrival, receipt);
      return !receipt;
    });
  }
  return arrivals.map((arrival) => receipts.get(arrival) as Decided<Receipt>);
}

const nameOf = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");

/** The answer to a report that is not stored; undefined if it shall be stored. */
function receiptWithoutStoring(sender: Sender | undefined, { tokenHash, body }: Arrival): Decided<Receipt> | undefined {
  if (!sender) return new LetheError("unknown-device", "this device is not enrolled in this window");
  if (!timingSafeEqual(sender.tokenHash, tokenHash)) {
    return new LetheError("unauthorized", "this is not the upload token that the device was given");
  }
  if (!sender.body) return undefined;
  if (Buffer.compare(sender.body, body) === 0) return "again";
  return new LetheError("report-differs", "this device has sent another report before; the first one counts");
}
