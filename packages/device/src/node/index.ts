/**
 * A store in files, for Node and Electron: file-store.ts, with withdrawal.ts for other processes that share the folder.
 * The only part of the SDK that imports Node's modules and `@lethe/files`.
 */
export { type FileStoreOptions, fileStore } from "./file-store.ts";
