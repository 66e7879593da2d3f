import { bernoulli, type Randomness, uniformBelowBig } from "../randomness/index.ts";

/**
 * True with probability e^{−numerator/denominator}, exactly [CKS20, Alg. 1]. For γ ≤ 1, the number of successes in a
 * run of Bernoulli(γ/1), Bernoulli(γ/2), … is even with probability e^{−γ}; larger γ are cut into ones.
 *
 * [CKS20] Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, 2020.
 */
export function bernoulliExp(random: Randomness, numerator: bigint, denominator: bigint): boolean {
  let rest = numerator;
  for (; rest > denominator; rest -= denominator) {
    if (!bernoulliExpAtMost1(random, 1n, 1n)) return false;
  }
  return bernoulliExpAtMost1(random, rest, denominator);
}

function bernoulliExpAtMost1(random: Randomness, numerator: bigint, denominator: bigint): boolean {
  let k = 1n;
  while (bernoulli(random, numerator, denominator * k)) k++;
  return k % 2n === 1n;
}

/**
 * The integer x with probability proportional to e^{−|x|·numerator/denominator}, exactly [CKS20, Alg. 2]. For counts of
 * L1 sensitivity Δ it is ε-differentially private with numerator/denominator = ε/Δ.
 */
export function drawDiscreteLaplace(random: Randomness, numerator: bigint, denominator: bigint): bigint {
  if (numerator < 1n || denominator < 1n) throw new RangeError("a rate is above 0");
  for (;;) {
    // u + denominator·v is geometric with ratio e^{−1/denominator}; dividing by the numerator makes it e^{−n/d}.
    const u = uniformBelowBig(random, denominator);
    if (!bernoulliExp(random, u, denominator)) continue;
    let v = 0n;
    while (bernoulliExpAtMost1(random, 1n, 1n)) v++;
    const magnitude = (u + denominator * v) / numerator;
    const negative = bernoulli(random, 1n, 2n);
    if (!(negative && magnitude === 0n)) return negative ? -magnitude : magnitude;
  }
}
