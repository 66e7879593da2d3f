import fc from "fast-check";
import { expect, it } from "vitest";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";

function passes(limit: RateLimit, address = "a"): boolean {
  try {
    limit.take(address);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "rate-limited" });
    return false;
  }
}

it("a burst passes, then as many as the rate allows", () => {
  let now = 0;
  const limit = createRateLimit({ perSecond: 2, burst: 5 }, () => now, "tries");
  for (let i = 0; i < 5; i++) expect(passes(limit)).toBe(true);
  expect(passes(limit)).toBe(false);
  now = 0.4;
  expect(passes(limit)).toBe(false);
  now = 0.5;
  expect(passes(limit)).toBe(true);
  expect(passes(limit)).toBe(false);
  now = 1000;
  for (let i = 0; i < 5; i++) expect(passes(limit)).toBe(true);
  expect(passes(limit)).toBe(false);
});

it("each address has its own", () => {
  const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => 0, "tries");
  expect([passes(limit, "a"), passes(limit, "a"), passes(limit, "b")]).toEqual([true, false, true]);
});

it("being refused costs nothing: who keeps asking is admitted as soon as who waits", () => {
  let now = 0;
  const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => now, "tries");
  expect(passes(limit)).toBe(true);
  for (let i = 0; i < 9; i++) {
    now += 0.1;
    expect(passes(limit)).toBe(false);
  }
  now = 1;
  expect(passes(limit)).toBe(true);
});

it("a clock that goes back gives nothing away and takes nothing", () => {
  let now = 100;
  const limit = createRateLimit({ perSecond: 1, burst: 2 }, () => now, "tries");
  expect([passes(limit), passes(limit), passes(limit)]).toEqual([true, true, false]);
  now = 0;
  expect(passes(limit)).toBe(false);
});

it("in any time no more pass than the burst and what the rate adds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      (pauses, perSecond, burst) => {
        let now = 0;
        const limit = createRateLimit({ perSecond, burst }, () => now, "tries");
        let passed = 0;
        for (const pause of pauses) {
          now += pause;
          if (passes(limit)) passed++;
          expect(passed).toBeLessThanOrEqual(burst + now * perSecond + 1e-6);
        }
      },
    ),
  );
});

it("a crowd of addresses does not wear out the memory, and who has just used up its burst is not forgotten", () => {
  let now = 0;
  const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => now, "tries");
  for (let i = 0; i < 250_000; i++) {
    now += 1e-6;
    limit.take(`address ${i}`);
  }
  expect(passes(limit, "address 249999")).toBe(false);
});

it("what is only looked at stays; a refusal says how long to wait", () => {
  let now = 0;
  const limit = createRateLimit({ perSecond: 1 / 64, burst: 2 }, () => now, "tries");
  for (let i = 0; i < 9; i++) limit.require("a");
  expect([passes(limit), passes(limit)]).toEqual([true, true]);
  now = 24;
  const refusal = { code: "rate-limited", message: expect.stringContaining("too many tries"), retryAfter: 40 };
  expect(() => limit.require("a")).toThrow(expect.objectContaining(refusal));
  now = 64;
  limit.require("a");
  expect(passes(limit)).toBe(true);
});
