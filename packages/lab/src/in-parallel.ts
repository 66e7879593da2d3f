const AT_ONCE = 8;

/** So many results, a few at a time; the first failure ends it. */
export async function inParallel<T>(
  count: number,
  make: (i: number) => Promise<T>,
  atOnce: number = AT_ONCE,
): Promise<T[]> {
  const results = new Array<T>(count);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < count && !failed) {
      const i = next++;
      results[i] = await make(i);
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    worker().catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return results;
}
