import type { Queryable } from "../storage/database.ts";
import { addRelease } from "../storage/releases.ts";
import { readTallies } from "../storage/tallies.ts";
import type { OneServerTask } from "../storage/tasks.ts";
import { endWindow, lockWindow, readWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { mergeTallies, openTally, type SumsTally } from "../tally/sealed-tally.ts";
import { secretOf } from "../tally/window-keys.ts";
import { countGroups, makeRelease, type Published, withhold } from "./release.ts";

/**
 * Publishes the release of a closed window of one server, in one transaction and once. Undefined while reports are
 * still to be counted, or if another process has published it.
 */
export async function publishRelease(
  { database, threads, keyFile }: Pick<CountingParts, "database" | "threads" | "keyFile">,
  task: OneServerTask,
  id: number,
  at: number,
): Promise<Published | undefined> {
  const { state, received } = await readWindow(database, id);
  if (state !== "closed") return undefined;
  // Pricing many metrics takes seconds, so nothing is locked yet. After the window closed nothing more is received.
  const enough = received >= task.manifest.minimumDevices;
  const cost = enough ? await threads.run("price", task.signed.manifest, received) : undefined;
  return database.transaction(async (transaction) => {
    const window = await lockWindow(transaction, id);
    if (window.state !== "closed") return undefined;
    // How many reports each group has shows once all are counted.
    const isGrouped = task.manifest.groups !== undefined;
    const opened = enough || isGrouped ? await openCounted(transaction, keyFile, window) : undefined;
    if (isGrouped && !opened) return undefined;
    const groups = opened && (await countGroups(transaction, task, id, opened));
    const closed = { task, window, groups, refused: await refusalsOf(transaction, id), at };
    const release = withhold(closed) ?? (cost && opened && makeRelease(closed, opened, cost));
    if (!release) return undefined;
    await addRelease(transaction, release);
    await endWindow(transaction, id, release.status);
    return release.status;
  });
}

/** The tally, if every report that was received is in one of its shards: then none of them changes any more. */
async function openCounted(
  transaction: Queryable,
  keyFile: KeyFile,
  window: WindowRow,
): Promise<SumsTally | undefined> {
  const shards = await readTallies(transaction, window.id);
  if (shards.reduce((sum, { counted }) => sum + counted, 0) !== window.received) return undefined;
  const windowSecret = await secretOf(transaction, keyFile, window);
  if (!windowSecret) return undefined;
  return mergeTallies(
    "sums",
    shards.map(({ sealed }) => openTally(windowSecret, sealed, "sums")),
  );
}
