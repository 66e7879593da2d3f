export { createPrio3Count, type Prio3Count, prio3Count, type VerifyState } from "./prio3-count.ts";
