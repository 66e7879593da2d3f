export { LetheError, type LetheErrorCode } from "@lethe/core/device";
export { type Lethe, type LetheOptions, openLethe } from "./lethe.ts";
export { indexedDbStore } from "./store/indexed-db.ts";
export { memoryStore } from "./store/memory.ts";
export type { Store, Tabs } from "./store/store.ts";
export type { Counting } from "./writer/state.ts";
export type { Inspection } from "./writer/writer.ts";
