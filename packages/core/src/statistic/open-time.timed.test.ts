import { OPEN_TIME_CASES, testOpenTime } from "../../test/open-time.ts";

testOpenTime(OPEN_TIME_CASES);
