import { type OpeningLeakCase, openingLeakCases, testOpeningLeak, testPower } from "../../test/opening-leak.ts";

testOpeningLeak(openingLeakCases(20));

const [lattice, elgamal] = openingLeakCases(1) as [OpeningLeakCase, OpeningLeakCase];
testPower(lattice, 0.05);
testPower(elgamal, 0.1);
