/**
 * The Mills ratio ∫₀^∞ e^{−tu − u²/2} du = 1/(t + 1/(t + 2/(t + 3/(t + …)))), by which Pr[N(0,1) > t] = φ(t)·m(t). Cut
 * after an odd number of levels the continued fraction is a lower bound; it is exact in doubles from t = 1 on.
 */
export function millsRatio(t: number): number {
  let tail = t;
  for (let level = 401; level >= 1; level--) tail = t + level / tail;
  return 1 / tail;
}
