/** The largest value lies between them; the two are equal up to the tolerance, unless the search was cut short. */
export interface Bracket {
  readonly lower: number;
  readonly upper: number;
}

/** A dataset: in each dimension how many people hold something. */
export type Point = readonly number[];

/** A set of datasets: in each dimension a count from low to high. */
export interface Box {
  readonly low: Point;
  readonly high: Point;
}

/** What the search needs to know about the curve. */
export interface Search {
  /**
   * At least the value at every point of the box, and exactly the value of a single point; 0 if it has none. It need
   * not be sharper than `goal`.
   */
  readonly bound: (box: Box, goal: number) => number;
  /** Where large values are expected. */
  readonly candidates: readonly Point[];
  /** Ends once the bracket is this narrow, relatively. */
  readonly tolerance: number;
  /** Ends once the upper end is no larger. */
  readonly enough?: number;
  readonly mostEvaluations: number;
}

/** What a caller may choose. */
export interface Effort extends Pick<Search, "tolerance" | "enough" | "candidates"> {
  /** How many times the usual work may be done before the bracket is left open. */
  readonly patience: number;
}

/** The worst case, and what is known about how bad it can be. */
export interface WorstCase extends Bracket {
  /** Where the lower end is attained. */
  readonly at: Point;
}

interface BoundedBox extends Box {
  readonly upper: number;
}

/**
 * The largest value over all points of a box, by branch and bound: the box with the largest bound is split until no box
 * can hold much more than the best point found. However it ends, `upper` is an upper bound.
 */
export function worstCase(
  whole: Box,
  { bound, candidates, tolerance, enough = 0, mostEvaluations }: Search,
): WorstCase {
  let lower = 0;
  let at = whole.low;
  let evaluations = 0;
  const goal = (): number => Math.max(lower * (1 + tolerance), enough);
  const evaluate = (box: Box): number => {
    evaluations++;
    const upper = bound(box, goal());
    if (isPoint(box) && upper > lower) {
      lower = upper;
      at = box.low;
    }
    return upper;
  };
  for (const point of candidates) evaluate({ low: point, high: point });
  const heap: BoundedBox[] = [];
  push(heap, { ...whole, upper: evaluate(whole) });
  for (;;) {
    const top = heap[0] as BoundedBox;
    if (top.upper <= goal() || evaluations >= mostEvaluations) return { lower, upper: Math.max(lower, top.upper), at };
    pop(heap);
    const parts = split(top);
    // A point inside lifts the lower end; it is worth its price only where little is left to win.
    if (top.upper < 1.01 * lower) evaluate({ low: parts[1].low, high: parts[1].low });
    for (const part of parts) push(heap, { ...part, upper: Math.min(top.upper, evaluate(part)) });
  }
}

/**
 * A point with a larger value nearby, by steps up or down in one dimension that are halved: a candidate for the worst.
 */
export function climb(start: Point, { low, high }: Box, value: (point: Point) => number): Point {
  let best = start;
  let most = value(start);
  const longest = Math.max(0, ...low.map((value, i) => (high[i] as number) - value));
  for (let size = Math.floor(longest / 4); size >= 1; size = Math.floor(size / 2)) {
    for (let dimension = 0; dimension < start.length; dimension++) {
      for (const direction of [size, -size]) {
        const to = (best[dimension] as number) + direction;
        if (to < (low[dimension] as number) || to > (high[dimension] as number)) continue;
        const point = best.with(dimension, to);
        const here = value(point);
        if (here > most) {
          best = point;
          most = here;
          break;
        }
      }
    }
  }
  return best;
}

function isPoint({ low, high }: Box): boolean {
  return low.every((value, i) => value === high[i]);
}

/** Two halves along the longest side. */
function split({ low, high }: Box): readonly [Box, Box] {
  const sides = low.map((value, i) => (high[i] as number) - value);
  const longest = sides.indexOf(Math.max(...sides));
  const middle = Math.floor(((low[longest] as number) + (high[longest] as number)) / 2);
  return [
    { low, high: high.with(longest, middle) },
    { low: low.with(longest, middle + 1), high },
  ];
}

/** A heap with the largest bound on top. */
function push(heap: BoundedBox[], box: BoundedBox): void {
  let i = heap.push(box) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if ((heap[parent] as BoundedBox).upper >= box.upper) break;
    heap[i] = heap[parent] as BoundedBox;
    i = parent;
  }
  heap[i] = box;
}

function pop(heap: BoundedBox[]): void {
  const box = heap.pop() as BoundedBox;
  if (heap.length === 0) return;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && (heap[child + 1] as BoundedBox).upper > (heap[child] as BoundedBox).upper) child++;
    if ((heap[child] as BoundedBox).upper <= box.upper) break;
    heap[i] = heap[child] as BoundedBox;
    i = child;
  }
  heap[i] = box;
}
