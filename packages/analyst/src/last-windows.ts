import { fetchReleases, type PublishedWindow, type Reader } from "./service.ts";

/** A window between others about which nothing was published: the service did not run, or is not done with it. */
export interface UnreleasedWindow {
  readonly status: "not-released";
  readonly task: string;
  readonly window: number;
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
}

/** The most that a service returns at once. */
const PAGE = 100;

/**
 * The releases of the last `count` windows up to the newest finished one, oldest first, with a place for
 * every window in between about which it published nothing. There are fewer if the task is younger than that.
 */
export async function lastWindows(
  server: string,
  task: string,
  count: number,
  { token }: Reader = {},
): Promise<readonly (PublishedWindow | UnreleasedWindow)[]> {
  const published: PublishedWindow[] = [];
  for (;;) {
    const limit = Math.min(PAGE, count - published.length);
    const before = published.at(-1)?.window;
    const page = await fetchReleases(server, task, { limit, token, ...(before !== undefined && { before }) });
    published.push(...page);
    if (page.length < limit || published.length >= count || isBeyond(published, count)) break;
  }
  return withGaps(task, published, count);
}

function isBeyond(published: readonly PublishedWindow[], count: number): boolean {
  const [newest, oldest] = [published[0], published.at(-1)];
  return newest !== undefined && oldest !== undefined && newest.window - oldest.window >= count - 1;
}

/** One entry for every window from the oldest to the newest. All windows of a task have the same length. */
function withGaps(
  task: string,
  published: readonly PublishedWindow[],
  count: number,
): (PublishedWindow | UnreleasedWindow)[] {
  const [newest] = published;
  if (!newest) return [];
  const byNumber = new Map(published.map((each) => [each.window, each]));
  const length = newest.to - newest.from;
  const first = Math.max(published.at(-1)?.window ?? 1, newest.window - count + 1);
  return Array.from({ length: newest.window - first + 1 }, (_, i) => {
    const window = first + i;
    const [from, to] = [window * length, (window + 1) * length];
    return byNumber.get(window) ?? { status: "not-released", task, window, from, to };
  });
}
