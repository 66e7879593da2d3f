/** Runs all steps, whether one of them fails or not; the first failure is thrown at the end. */
export async function inOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => void failures.push(error));
  if (failures.length > 0) throw failures[0];
}
