const MOST_SECONDS = 300;

/**
 * Waits until `look` finds something. The limit is long, so that only what never happens reaches it, on a busy machine,
 * too.
 */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 1000 * MOST_SECONDS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`it did not happen within ${MOST_SECONDS} seconds`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
