/** How all experiments print numbers, in English. */

/** Rounded, with commas between thousands: 1,048,576. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** Up to four significant digits: 121.9, 4,153. */
export function figure(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** This many significant digits, but never less than whole: 0.082, 47 and 2,297,959 for two. */
export function rough(value: number, digits: number): string {
  return value >= 10 ** digits ? whole(value) : String(Number(value.toPrecision(digits)));
}

/** A fixed number of decimals, with a real minus sign, and never −0. */
export function signed(value: number, decimals: number): string {
  return value
    .toFixed(decimals)
    .replace(/^-(0(\.0*)?)$/, "$1")
    .replace("-", "−");
}

/** A share in per cent, with one decimal: 51.1%. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** "1 client", "9 clients". */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
