import { expect } from "vitest";
import { LetheError } from "../src/error.ts";

/** The message of the refusal; anything but a `bad-encoding` of one line fails the test. */
export function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    expect(error.code).toBe("bad-encoding");
    expect(error.message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]+$/u);
    return error.message;
  }
  throw new Error("was accepted");
}
