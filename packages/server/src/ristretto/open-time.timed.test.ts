import { OPEN_TIME_CASES, testOpenTime } from "../../../core/test/open-time.ts";
import { loadRistretto } from "./libsodium.ts";

const onElGamal = OPEN_TIME_CASES.filter(([scheme]) => scheme === "elgamal");
testOpenTime(onElGamal, await loadRistretto());
