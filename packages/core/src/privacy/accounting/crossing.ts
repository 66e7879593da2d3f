interface Evaluated {
  readonly x: number;
  /** ln(f(x)/target), within ±50. */
  readonly height: number;
  readonly weight: number;
}

const HIGHEST = 50;

/**
 * Where a monotone function that is not negative crosses a target: a point at which it is at most the target, close to
 * where it is more. `safe` is known to be such a point, and is never evaluated; `unsafe` is the other end of the range,
 * and is returned if even there the function is at most the target. The search starts at a guess, since far away the
 * function may be slow, and ends where the function is below the target by no more than `precision`, relatively.
 */
export function crossing(
  f: (x: number) => number,
  target: number,
  safe: number,
  unsafe: number,
  guess: number,
  precision = 1e-7,
): number {
  const evaluate = (x: number): Evaluated => {
    const height = Math.max(-HIGHEST, Math.min(HIGHEST, Math.log(f(x) / target)));
    if (Number.isNaN(height)) throw new RangeError(`no privacy can be accounted for at ${x}`);
    return { x, height, weight: 1 };
  };
  let low: Evaluated = { x: safe, height: -HIGHEST, weight: 1 };
  let high: Evaluated | undefined;
  const within = (x: number): number => Math.min(Math.max(x, Math.min(safe, unsafe)), Math.max(safe, unsafe));
  // Away from the guess in growing steps, until the crossing lies between two points.
  // A guess beyond the safe end says only that the crossing is near it, not that it exists.
  let x = within(guess) === safe ? (safe + unsafe) / 2 : within(guess);
  for (let step = Math.abs(unsafe - safe) / 200; x !== safe && !(high && low.x !== safe); step *= 2) {
    const here = evaluate(x);
    if (here.height > 0) high = here;
    else if (x === unsafe) return unsafe;
    else low = here;
    const end = here.height > 0 ? safe : unsafe;
    x = Math.abs(end - x) <= step ? end : x + Math.sign(end - x) * step;
  }
  high ??= { x: unsafe, height: HIGHEST, weight: 1 };
  // Interpolates the logarithm; every third step halves.
  for (let i = 0; low.height < -precision && Math.abs(high.x - low.x) > 1e-11 * Math.abs(high.x); i++) {
    const here = evaluate(i % 3 === 2 ? (low.x + high.x) / 2 : between(low, high));
    if (here.x === low.x || here.x === high.x) break;
    // The end that stays counts for half, so that it moves soon too [Illinois].
    if (here.height <= 0) {
      low = here;
      high = { ...high, weight: high.weight / 2 };
    } else {
      high = here;
      low = { ...low, weight: low.weight / 2 };
    }
  }
  return low.x;
}

/** Where a straight line between the two weighted heights is 0, or the middle if that is one of the ends. */
function between(low: Evaluated, high: Evaluated): number {
  const below = -low.height * low.weight;
  const x = low.x + ((high.x - low.x) * below) / (below + high.height * high.weight);
  return x === low.x || x === high.x ? (low.x + high.x) / 2 : x;
}
