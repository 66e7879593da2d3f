import { createHash, createHmac } from "node:crypto";

/** From which both servers draw the points of their queries: the same for a whole window, and unknown to devices. */
export function verifyKeyOf(peerSecret: string, task: string, window: number): Uint8Array {
  return createHmac("sha256", peerSecret)
    .update(JSON.stringify(["lethe verify key", task, window]))
    .digest();
}

/** Tells whether two verify keys are the same, and nothing else. */
export function commitToVerifyKey(verifyKey: Uint8Array): Uint8Array {
  return createHash("sha256").update("lethe verify key commitment\n").update(verifyKey).digest();
}
