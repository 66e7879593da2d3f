/** What a leader asks its helper: to take a task, to make keys, to verify reports, to finish a window. */
export const OPERATIONS: readonly ["task", "keys", "job", "finish"] = ["task", "keys", "job", "finish"];
export type Operation = (typeof OPERATIONS)[number];
