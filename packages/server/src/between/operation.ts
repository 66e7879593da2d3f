/**
 * The operations that a leader asks of its helper: to take a task, to make keys, to verify reports, to finish a window.
 */
export const OPERATIONS: readonly ["task", "keys", "job", "finish"] = ["task", "keys", "job", "finish"];
/** One of these operations. */
export type Operation = (typeof OPERATIONS)[number];
