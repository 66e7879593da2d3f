import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import type { Choose } from "./choose.ts";
import { mutatedBytes } from "./mutate-bytes.ts";
import { mutatedJson } from "./mutate-json.ts";

/** A decoder or parser of bytes from outside, and what it may do with them. */
export interface Target {
  readonly name: string;
  /** The exported functions that it runs. */
  readonly covers: readonly string[];
  readonly kind: "bytes" | "json" | "text";
  /** Valid inputs; for a sealed format, valid contents. */
  readonly examples: readonly Uint8Array[];
  /** The codes of the errors that it may throw. */
  readonly errors: readonly LetheErrorCode[];
  /** Names of other errors that its contract allows. */
  readonly otherErrors?: readonly string[];
  /**
   * Decodes. Where there is one encoding of a value, returns that: it must be the input. Throws a `Violation` if the
   * value breaks a promise of the decoder.
   */
  run(input: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Adds checksums or MACs to content, so that what is behind them is reached, too. */
  seal?(content: Uint8Array): Uint8Array;
  /** How many inputs CI tries, if 10,000 take too long. */
  readonly inCi?: number;
}

/** What a decoder promised and did not do. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** A mutated input: the same seed and number give the same. */
export function inputOf({ kind, examples, seal }: Target, choose: Choose): Uint8Array {
  const mutated = kind === "json" ? mutatedJson(examples, choose) : mutatedBytes(examples, choose);
  if (!seal) return mutated;
  if (choose.chance(0.75)) return new Uint8Array(seal(mutated));
  return mutatedBytes([seal(choose.oneOf(examples))], choose);
}

/** What is wrong with what a decoder returned; undefined if it is the input, or if there is no canonical encoding. */
export function wrongResult(input: Uint8Array, again: Uint8Array | undefined): string | undefined {
  if (again === undefined) return undefined;
  const isSame = again.length === input.length && again.every((byte, i) => byte === input[i]);
  return isSame ? undefined : "accepted, although its encoding is another";
}

/** What is wrong with an error that a decoder threw; undefined if it is a named one. */
export function wrongError({ errors, otherErrors = [] }: Target, error: unknown): string | undefined {
  if (error instanceof LetheError) {
    if (errors.includes(error.code)) return undefined;
    return `refused with the code ${JSON.stringify(error.code)}, which is not among its own`;
  }
  if (!(error instanceof Error)) return `threw ${String(error)}, which is no error`;
  if (error instanceof RangeError && /call stack/.test(error.message)) return "recursed too deeply";
  if (otherErrors.includes(error.name)) return undefined;
  const [, where = ""] = error.stack?.split("\n    at ") ?? [];
  return `threw ${error.name}: ${error.message} (${where.replace(/file:.*\/packages\//, "")})`;
}
