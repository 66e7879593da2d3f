import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { lowerBound } from "./lower-bound.ts";

it("at its full size, unseeded, slopes are as claimed (false alarms below 10⁻⁹)", async () => {
  const { json } = await lowerBound.run({ random: randomnessFrom(globalThis.crypto), progress: () => {} });
  const { slopes, slopeStandardErrors } = json as Record<string, { informationTheoretic: number; lethe: number }>;
  expect(6.2 * (slopeStandardErrors?.informationTheoretic as number)).toBeLessThan(0.05);
  expect(6.2 * (slopeStandardErrors?.lethe as number)).toBeLessThan(0.02);
  expect(Math.abs((slopes?.informationTheoretic as number) - 0.5)).toBeLessThan(0.05);
  expect(Math.abs(slopes?.lethe as number)).toBeLessThan(0.02);
});
