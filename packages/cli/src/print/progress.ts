/** Printed before the embedded database is created, which takes seconds. */
export const PREPARING = "preparing the database …";

/**
 * Shows on stderr how much of a long task is done. On a terminal the line rewrites itself; elsewhere there is one line
 * per 10%.
 */
export function createProgress(what: string): (share: number) => void {
  let last = -1;
  return (share) => {
    const steps = process.stderr.isTTY ? 100 : 10;
    const step = Math.floor(share * steps);
    if (step === last) return;
    last = step;
    const text = `${what} … ${Math.round(100 * share)}%`;
    process.stderr.write(process.stderr.isTTY ? `\r${text}${share >= 1 ? "\n" : ""}` : `${text}\n`);
  };
}
