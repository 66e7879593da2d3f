import { LetheError } from "@lethe/core/error";
import { expect, it } from "vitest";
import { pauseAfter } from "./load.ts";

const failed = (code: LetheError["code"], retryAfter?: number) => ({
  state: "failed" as const,
  failure: Object.assign(new LetheError(code, "no"), retryAfter !== undefined && { retryAfter }),
});

it("what is live is fetched again after its interval, also if it failed", () => {
  expect(pauseAfter({ state: "there", value: 1 }, 2000)).toBe(2000);
  expect(pauseAfter(failed("unreachable"), 2000)).toBe(2000);
});

it("what is not live is fetched once", () => {
  expect(pauseAfter({ state: "there", value: 1 }, undefined)).toBeUndefined();
  expect(pauseAfter(failed("unreachable"), undefined)).toBeUndefined();
});

it("a service that asks to wait is asked again then, and not earlier", () => {
  expect(pauseAfter(failed("rate-limited", 6), undefined)).toBe(6000);
  expect(pauseAfter(failed("rate-limited", 6), 2000)).toBe(6000);
  expect(pauseAfter(failed("rate-limited", 6), 30_000)).toBe(30_000);
});

it("a token that was refused is not sent again, which would count as another attempt", () => {
  expect(pauseAfter(failed("unauthorized"), 2000)).toBeUndefined();
});
