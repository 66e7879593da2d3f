import { describe, it } from "vitest";
import { CATEGORY_CASES, NUMBER_CASE } from "../../test/named-cases.ts";
import { checkFleets } from "../../test/named-fleets.ts";

/** `named-fleets.slow.test.ts` has more fleets. */
const FLEETS = 60;
const DEVICES = 100;

describe(`the figures of releases, over ${FLEETS} fleets of ${DEVICES} devices`, () => {
  it.each(CATEGORY_CASES)("$statistic", (named) => {
    checkFleets(named, { localEpsilon: 2 }, FLEETS, DEVICES);
  });

  it("an automaton with numbers", () => {
    checkFleets(NUMBER_CASE, { sigma: 1 }, FLEETS, DEVICES);
  });
});
