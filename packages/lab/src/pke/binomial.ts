/** The probability that at least half of `voters` err, if each does with probability `flip`. Exact but for rounding. */
export function majorityMistake(voters: number, flip: number): number {
  const least = Math.ceil(voters / 2);
  const odds = flip / (1 - flip);
  let term = Math.exp(logChoose(voters, least) + least * Math.log(flip) + (voters - least) * Math.log1p(-flip));
  let sum = 0;
  for (let wrong = least; wrong <= voters; wrong++) {
    sum += term;
    term *= (odds * (voters - wrong)) / (wrong + 1);
  }
  return Math.min(1, sum);
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}

/**
 * Chernoff's bound, in Hoeffding's form: the probability that the mean of `draws` independent bits whose expectations
 * average `mean` is as far out as `seen`. The bits need not be alike.
 */
export function chernoff(draws: number, seen: number, mean: number): number {
  const divergence = seen * Math.log(seen / mean) + (1 - seen) * Math.log((1 - seen) / (1 - mean));
  return Math.exp(-draws * divergence);
}
