/** The statistics whose device's half is in a file, by name. */
type Halves<Half> = Readonly<Partial<Record<string, (spec: never) => Half>>>;

/**
 * The device's half of the statistic that a spec names. A `RangeError` if the list has none: this version of the SDK may
 * be older than the statistic, and a statistic need not run on every scheme.
 */
export function halfOf<Half>(halves: Halves<Half>, spec: { readonly statistic: string }, where: string): Half {
  const { statistic } = spec;
  const create = Object.hasOwn(halves, statistic) ? halves[statistic] : undefined;
  if (!create) throw new RangeError(`this version of the SDK cannot run ${statistic} ${where}`);
  return create(spec as never);
}
