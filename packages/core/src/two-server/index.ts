export { createPrio3Count, prio3Count } from "./create-prio3-count.ts";
export type { Prio3Count, VerifyState } from "./prio3-count.ts";
