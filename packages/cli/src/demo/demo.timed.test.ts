import { expect, it } from "vitest";
import { lethe } from "../../test/lethe.ts";

it("npm start -- --once, once installed, takes less than two minutes", () => {
  const { status, stdout } = lethe("demo", "--once", "--json");
  expect(status).toBe(0);
  const { devices, seconds } = JSON.parse(stdout) as { devices: number; seconds: number };
  console.log(JSON.stringify({ devices, seconds }));
  expect(devices).toBe(200);
  expect(seconds).toBeLessThan(120);
});
