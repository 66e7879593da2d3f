import { counter } from "../automaton/counter.ts";
import { type Move, requireFewSlots, type Slots } from "../automaton/slots.ts";
import { bucketOf } from "./histogram.ts";

/**
 * Alg. 3 on shared bits, which can be moved but not added. For bucket b think of a line of bits line[k] = [count + k is
 * in b], whose front, k = 0, is the bucket's bit. An event raises the count by one: the line drops its front, moves up
 * by one place and gets a fresh bit at its end. If the line is long enough, that last bit is known without looking: 0
 * for every bucket but the last, 1 for the last, whatever the count (`lineLength`).
 *
 * Buckets of the same width share a line: that of the lower bucket is the tail of that of the higher one. So the device
 * keeps one line for every width, and one for the last bucket.
 *
 * The report has one bit for every bucket, `fronts`, to which a mechanism applies its responses. Without them exactly
 * one bit is 1: what the servers can open is the bucket, and nothing else. The other bits of the lines, which would show
 * the count, stay on the device.
 *
 * Sharing a line is safe, because each bucket reads another place of it: every bit of the state is a separate sharing,
 * made once and only moved afterwards. Copying a bit would not be safe. If two bits of a report were copies of one
 * sharing, each server alone would see two equal shares, which proves that both answers are kept and 0. And a sharing
 * may be queried only once.
 */
export function bucketLines(event: string, edges: readonly number[]): Slots & { readonly fronts: Move } {
  const { lines, places } = layOut(edges);
  const { events, periods, periodTicks } = counter(event, edges.at(-1) as number);
  const range = (first: number, end: number): number[] => Array.from({ length: end - first }, (_, i) => first + i);
  const bits = lines.reduce((total, { length }) => total + length, 0);
  requireFewSlots(bits);
  const unmoved = range(0, bits).map((place) => [place]);
  return {
    events,
    periods,
    periodTicks,
    initial: lines.flatMap(({ bucket, length }) =>
      range(0, length).map((k): 0 | 1 => (bucketOf(edges, k) === bucket ? 1 : 0)),
    ),
    onEvent: () =>
      lines.flatMap(
        ({ bucket, first, length }): Move => [
          ...range(first + 1, first + length).map((place) => [place]),
          bucket === edges.length - 1 ? 1 : 0,
        ],
      ),
    onEnd: () => unmoved,
    fronts: places.map((place) => [place]),
  };
}

/** The line of a bucket: where it begins in the state, and its number of bits. */
interface Line {
  readonly bucket: number;
  readonly first: number;
  readonly length: number;
}

/** The lines, each of the highest bucket of its width, and for every bucket where in the state its bit is. */
function layOut(edges: readonly number[]): { readonly lines: readonly Line[]; readonly places: readonly number[] } {
  const width = (bucket: number): number => (edges[bucket + 1] ?? Number.POSITIVE_INFINITY) - (edges[bucket] as number);
  const highest = new Map(edges.map((_, bucket) => [width(bucket), bucket]));
  const lines = new Map<number, Line>();
  let first = 0;
  for (const [each, bucket] of highest) {
    const length = lineLength(edges, bucket);
    lines.set(each, { bucket, first, length });
    first += length;
  }
  const places = edges.map((_, bucket) => {
    const line = lines.get(width(bucket)) as Line;
    return line.first + line.length - lineLength(edges, bucket);
  });
  return { lines: [...lines.values()], places };
}

/**
 * The fewest bits n for which [count + n is in the bucket] is the same for every count. It is 0 as soon as n reaches
 * the next edge, and 1 in the last bucket as soon as n reaches its own. One bit less, and it depends on whether the
 * count is 0.
 */
function lineLength(edges: readonly number[], bucket: number): number {
  return edges[bucket + 1] ?? (edges[bucket] as number);
}
