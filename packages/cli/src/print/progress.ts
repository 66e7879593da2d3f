/** Said before the embedded database is made, which takes seconds. */
export const PREPARING = "preparing the database …";

/** A line on stderr that says how far long work is; on a terminal it rewrites itself, elsewhere it comes at each tenth. */
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
