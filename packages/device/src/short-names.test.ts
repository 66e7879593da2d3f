import { SCHEMAS } from "@lethe/core/message";
import { STATISTICS } from "@lethe/core/statistic";
import { expect, it } from "vitest";

/** The names of all fields that a schema describes, whatever they are in. */
function fieldsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(fieldsIn)];
}

it("the bundle shortens no name of a field of manifests, nor of a statistic, which devices look up as they are", async () => {
  const script = new URL("../../../scripts/short-names.js", import.meta.url).href;
  const { NAMES } = (await import(script)) as { NAMES: readonly string[] };
  const words = new Set([...fieldsIn(SCHEMAS.manifest), ...STATISTICS]);
  for (const known of ["steps", "choice", "periodTicks", "of", "metrics"]) expect(words).toContain(known);
  expect(NAMES.length).toBeGreaterThan(50);
  expect(NAMES.filter((name) => words.has(name))).toEqual([]);
});
