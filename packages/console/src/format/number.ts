/**
 * Numbers, times and intervals as the reader writes them: with the number format of the browser's language. Imports
 * nothing but types.
 */

const cache = new Map<string, Intl.NumberFormat>();

function formatter(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const known = cache.get(key) ?? new Intl.NumberFormat(navigator.language, options);
  cache.set(key, known);
  return known;
}

/** A number with this many decimals. Zero has no sign. */
export function decimal(value: number, decimals: number): string {
  const rounded = Number(value.toFixed(decimals));
  return formatter({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(
    rounded === 0 ? 0 : rounded,
  );
}

/** A whole number: 12,345. */
export function whole(value: number): string {
  return decimal(value, 0);
}

/** A share as a percentage: 0.031 is 3.1%. */
export function percent(share: number, decimals = 1): string {
  const rounded = Number((100 * share).toFixed(decimals)) / 100;
  const format = { style: "percent", minimumFractionDigits: decimals, maximumFractionDigits: decimals } as const;
  return formatter(format).format(rounded === 0 ? 0 : rounded);
}

/** A number with this many significant digits, for ε and other figures of any size. */
export function significant(value: number, digits = 3): string {
  if (value !== 0 && Math.abs(value) < 1e-3) {
    return formatter({ notation: "scientific", maximumSignificantDigits: digits }).format(value);
  }
  return formatter({ maximumSignificantDigits: Math.abs(value) >= 10 ** digits ? 21 : digits }).format(
    Math.abs(value) >= 10 ** digits ? Math.round(value) : value,
  );
}

const BYTE_UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A number of bytes with three significant digits: "12.3 GB". */
export function bytes(value: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const unit = { style: "unit", unit: BYTE_UNITS[power] as string, maximumSignificantDigits: 3 } as const;
  return formatter(unit).format(value / 1000 ** power);
}

/** An ε with three significant digits, rounded up: no guarantee is printed as stronger than it is. */
export function epsilonText(epsilon: number): string {
  if (!Number.isFinite(epsilon)) return "no bound";
  if (epsilon === 0) return significant(0);
  const unit = 10 ** (Math.floor(Math.log10(epsilon)) - 2);
  return significant(Number((Math.ceil(epsilon / unit - 1e-9) * unit).toPrecision(3)));
}

/** An estimate with half the width of its 95% interval: "1,234 ± 56". */
export function plusMinus(
  { estimate, interval: [low, high] }: { readonly estimate: number; readonly interval: readonly [number, number] },
  decimals: number,
): string {
  return `${decimal(estimate, decimals)} ± ${decimal((high - low) / 2, decimals)}`;
}
