import { allOf } from "../async/all-of.ts";
import type { Queryable } from "../storage/database.ts";
import { sumOf } from "../storage/databases.ts";
import { addRelease } from "../storage/releases.ts";
import type { OneServerTask } from "../storage/tasks.ts";
import { endWindow, lockWindow, readWindow, refusalsOf, type WindowRow } from "../storage/windows.ts";
import type { CountingParts } from "../tally/batches.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { addUp, mergeTallies, openTally, type SumsTally } from "../tally/sealed-tally.ts";
import { secretOf } from "../tally/window-keys.ts";
import { type ClosedPart, isClosedForGood, readPart } from "./parts.ts";
import { groupCounts, makeRelease, type Published, withhold } from "./release.ts";

/**
 * Publishes the release of a closed window of one server, in one transaction of the first database and once. Undefined
 * while a database still takes or counts reports, or if another process has published it.
 */
export async function publishRelease(
  { database, databases, threads, keyFile }: Pick<CountingParts, "database" | "databases" | "threads" | "keyFile">,
  task: OneServerTask,
  id: number,
  at: number,
): Promise<Published | undefined> {
  const closed = await readWindow(database, id);
  if (closed.state !== "closed") return undefined;
  const [, ...elsewhere] = databases.of(closed);
  // Before anything is locked: another database may take long to answer.
  const areClosed = await allOf(elsewhere.map((each) => isClosedForGood(each, closed)));
  if (areClosed.includes(false)) return undefined;
  const others = onlyClosed(await allOf(elsewhere.map((each) => readPart(each, task, closed))));
  if (!others) return undefined;
  const { received } = sumOf([closed, ...others]);
  // Pricing many metrics takes seconds, so nothing is locked yet. After the window closed nothing more is received.
  const enough = received >= task.manifest.minimumDevices;
  const cost = enough ? await threads.run("price", task.signed.manifest, received) : undefined;
  return database.transaction(async (transaction) => {
    const locked = await lockWindow(transaction, id);
    // While it is closed here, nobody has erased a part of it.
    const own = locked.state === "closed" ? await readPart(transaction, task, locked) : undefined;
    if (!own) return undefined;
    const parts = [own, ...others];
    // How many reports each group has shows once all are counted.
    const isGrouped = task.manifest.groups !== undefined;
    const opened = enough || isGrouped ? await openCounted(transaction, keyFile, locked, parts) : undefined;
    if (isGrouped && !opened) return undefined;
    const enrolled = parts.map(({ enrolledByGroup }) => enrolledByGroup).reduce<number[]>(addUp, []);
    const groups = opened && groupCounts(task, enrolled, opened);
    const window = { ...locked, ...sumOf(parts) };
    const ended = { task, window, groups, refused: await refusalsOf(transaction, id), at };
    const release = withhold(ended) ?? (cost && opened && makeRelease(ended, opened, cost));
    if (!release) return undefined;
    await addRelease(transaction, release);
    await endWindow(transaction, window, release.status);
    return release.status;
  });
}

/** The parts, if all are closed. */
function onlyClosed(parts: readonly (ClosedPart | undefined)[]): ClosedPart[] | undefined {
  const closed = parts.filter((part) => part !== undefined);
  return closed.length === parts.length ? closed : undefined;
}

/** The tally, if every report that was received is in a shard of it. */
async function openCounted(
  transaction: Queryable,
  keyFile: KeyFile,
  window: WindowRow,
  parts: readonly ClosedPart[],
): Promise<SumsTally | undefined> {
  if (parts.some(({ shards }) => shards === undefined)) return undefined;
  const windowSecret = await secretOf(transaction, keyFile, window);
  if (!windowSecret) return undefined;
  const shards = parts.flatMap((part) => part.shards ?? []);
  return mergeTallies(
    "sums",
    shards.map(({ sealed }) => openTally(windowSecret, sealed, "sums")),
  );
}
