import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The SDK for pages, one ES module, as a service delivers it. */
export function readSdk(): Uint8Array {
  return readFileSync(fileURLToPath(import.meta.resolve("@lethe/device/lethe.js")));
}

/** Where a service delivers it for ever; docs/wire-format.md fixes the form. */
export function sdkPath(code: Uint8Array): string {
  return `/lethe-${createHash("sha256").update(code).digest("hex").slice(0, 32)}.js`;
}

/** What a script tag states, so that a browser runs these bytes or nothing. */
export function integrityOf(code: Uint8Array): string {
  return `sha384-${createHash("sha384").update(code).digest("base64")}`;
}
