import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { utilityCases } from "../utility/cases.ts";
import { runUtility } from "./utility.ts";

/** 10⁻⁸ for a normal figure, on both sides together; some seventy of them. Unseeded. */
const ALARM = 5.731;

it("every statistic, mode, scheme and mechanism has the error that it states", async () => {
  const { rows } = await runUtility(
    { plain: { devices: 500, runs: 4000 }, cases: utilityCases(3), paperWindows: 300 },
    { random: randomnessFrom(globalThis.crypto), progress: () => {} },
  );
  expect(rows.length).toBe(22);
  for (const { statistic, mode, scheme, mechanism, ratio, freedom, bias } of rows) {
    const name = [statistic, mode, scheme, mechanism].join(", ");
    expect(Math.abs(Math.log(ratio)) * Math.sqrt(2 * freedom), `error: ${name}`).toBeLessThan(ALARM);
    expect(Math.abs(bias), `bias: ${name}`).toBeLessThan(ALARM);
  }
});
