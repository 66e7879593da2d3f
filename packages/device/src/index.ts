/**
 * The SDK: `openLethe` (lethe.ts), which checks its options and starts sessions (sessions.ts), in which one tab or
 * process writes (writer/) to a store (store/, node/) and talks to the service (service.ts). record-codec.ts has the
 * bytes of the stored record. budget/ is loaded only where a budget is set. Everything but node/ runs in browsers, imports `@lethe/core/device` alone, and counts
 * towards the size budget.
 */
export { type Budget, LetheError, type LetheErrorCode } from "@lethe/core/device";
export { type Lethe, type LetheOptions, openLethe } from "./lethe.ts";
export { indexedDbStore } from "./store/indexed-db.ts";
export { memoryStore } from "./store/memory.ts";
export type { Store, Tabs } from "./store/store.ts";
export type { Counting } from "./writer/state.ts";
export type { Inspection } from "./writer/writer.ts";
