/**
 * What `find` found, at most `milliseconds` ago: callers in that time share one answer. A failure is not remembered
 * after it was reported.
 */
export function remember<T>(milliseconds: number, find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (found && performance.now() - foundAt <= milliseconds) return found;
    foundAt = performance.now();
    const finding = find();
    found = finding;
    finding.catch(() => {
      if (found === finding) found = undefined;
    });
    return finding;
  };
}
