/**
 * The game of the console: two devices, one of which clicked. A person guesses which, and the distinguishers of
 * `intrusion` play along. `duel.ts` has the rules. Everything that is exported here runs in pages: this folder imports
 * only `intrusion`, and only files of it that use web standards.
 */
export type { Distinguisher } from "../intrusion/battery.ts";
export { brokenMaker, type Fault } from "../intrusion/controls.ts";
export type { Device, Seen } from "../intrusion/games.ts";
export { createIssuer } from "../intrusion/issuer.ts";
export { sdkMaker } from "../intrusion/sdk.ts";
export { createDuel, type Duel, type Outcome, PLAYERS, ROUND_TICKS, type Round, SIDES, type Side } from "./duel.ts";
export { chanceOf, isBeyondLuck } from "./luck.ts";
