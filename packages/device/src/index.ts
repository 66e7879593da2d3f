export { LetheError, type LetheErrorCode } from "@lethe/core/device";
export { type Lethe, type LetheOptions, openLethe } from "./lethe.ts";
export { indexedDbStore } from "./store/indexed-db.ts";
export { memoryStore } from "./store/memory.ts";
export type { Peers, Store } from "./store/store.ts";
export type { Counting, Inspection } from "./writer.ts";
