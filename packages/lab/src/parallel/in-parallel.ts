/**
 * Work that runs side by side: `inParallel` for what waits (requests to a service), `inThreads` for what computes. The
 * second schedules its threads with the first. This folder imports nothing else of the lab.
 */
const AT_ONCE = 8;

/**
 * Calls `make` for 0 to `count` − 1, at most `atOnce` at a time, and returns all results in order. Rejects at the first
 * failure.
 */
export async function inParallel<T>(
  count: number,
  make: (i: number) => Promise<T>,
  atOnce: number = AT_ONCE,
): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  let failed = false;
  const work = async (): Promise<void> => {
    while (next < count && !failed) {
      const i = next++;
      results[i] = await make(i);
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return results;
}
