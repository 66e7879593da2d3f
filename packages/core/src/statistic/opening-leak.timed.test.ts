import { openingLeakCases, testOpeningLeak } from "../../test/opening-leak.ts";

testOpeningLeak(openingLeakCases(1));
