/**
 * Keeps a log short: failures that last are logged once. This folder imports nothing.
 */

/**
 * Decides which failures to log: the first time, again after it was over in between, and every ten minutes.
 */
export interface News {
  /**
   * Whether to log this failure. Numbers in its text are ignored: a clock that is further and further away is the same
   * failure.
   */
  isNews(trouble: string): boolean;
  /** All failures whose text begins like this are over. Returns whether there were any. */
  over(beginning?: string): boolean;
}

const AGAIN_MS = 600_000;
/** A client that causes ever new failures makes the log longer, but does not fill the memory. */
const MOST_REMEMBERED = 1000;

/** `clock` is in milliseconds. */
export function createNews(clock: () => number = () => performance.now()): News {
  const said = new Map<string, number>();
  return {
    isNews: (trouble) => {
      const name = trouble.replaceAll(/\d+/g, "#");
      const last = said.get(name);
      if (last !== undefined && clock() - last < AGAIN_MS) return false;
      if (said.size >= MOST_REMEMBERED) said.clear();
      said.set(name, clock());
      return true;
    },
    over: (beginning = "") => {
      const start = beginning.replaceAll(/\d+/g, "#");
      const ended = [...said.keys()].filter((name) => name.startsWith(start));
      for (const name of ended) said.delete(name);
      return ended.length > 0;
    },
  };
}
