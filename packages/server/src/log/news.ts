/**
 * Which of the things that go wrong is news, so that a log says once what lasts: the first time, again when it was over in between, and every ten
 * minutes.
 */
export interface News {
  /** Whether to say it. Numbers in it are left aside: a clock that is ever further away is the same trouble. */
  isNews(trouble: string): boolean;
  /** All troubles whose text begins like this are over; whether there were any. */
  over(beginning?: string): boolean;
}

const AGAIN_MS = 600_000;
/** Who makes up troubles makes a log longer, not the memory fuller. */
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
