/** Waits for what happens by itself, for half a minute at most. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("it did not happen within 30 seconds");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
