import { createHash, createHmac } from "node:crypto";

/**
 * The key from which both servers draw the points of their queries: the same for a whole window, and unknown to
 * devices.
 */
export function verifyKeyOf(secret: string, task: string, window: number): Uint8Array {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["lethe verify key", task, window]))
    .digest();
}

/** A commitment by which two servers compare their verify keys, and which reveals nothing else about them. */
export function commitToVerifyKey(verifyKey: Uint8Array): Uint8Array {
  return createHash("sha256").update("lethe verify key commitment\n").update(verifyKey).digest();
}
