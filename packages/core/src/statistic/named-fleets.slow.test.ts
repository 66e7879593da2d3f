import { describe, it } from "vitest";
import { CATEGORY_CASES, NUMBER_CASE } from "../../test/named-cases.ts";
import { checkFleets } from "../../test/named-fleets.ts";
import { MECHANISMS } from "./histogram/histogram.ts";

const FLEETS = 1000;
const DEVICES = 200;

describe(`the figures of releases, over ${FLEETS} fleets of ${DEVICES} devices`, () => {
  it.each(CATEGORY_CASES.flatMap((named) => MECHANISMS.map((mechanism) => ({ ...named, mechanism }))))(
    "$statistic, $mechanism",
    ({ mechanism, ...named }) => {
      checkFleets(named, { localEpsilon: 1, mechanism }, FLEETS, DEVICES);
    },
  );

  it("an automaton with numbers", () => {
    checkFleets(NUMBER_CASE, { sigma: 1 }, FLEETS, DEVICES);
  });
});
