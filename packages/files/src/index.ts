/**
 * What the Node parts of Lethe need of a file system: one writer at a time (lock-file.ts), and files that are replaced
 * as a whole or not at all (replace-file.ts). Imports Node's own modules only. Start with `takeLock`, then
 * `replaceFile`.
 */
export { type HeldLock, type Lock, takeLock } from "./lock-file.ts";
export { createFile, type ReplaceOptions, removeUnfinished, replaceFile, syncFolder } from "./replace-file.ts";
