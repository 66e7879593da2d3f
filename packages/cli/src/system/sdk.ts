import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The SDK for pages as a service delivers it: one ES module. */
export function readSdk(): Uint8Array {
  return readFileSync(fileURLToPath(import.meta.resolve("@lethe/device/lethe.js")));
}

/** The path at which services deliver exactly this SDK, permanently. docs/wire-format.md defines it. */
export function sdkPath(code: Uint8Array): string {
  return `/lethe-${createHash("sha256").update(code).digest("hex").slice(0, 32)}.js`;
}

/** The `integrity` of a script tag, with which a browser runs exactly these bytes or nothing. */
export function integrityOf(code: Uint8Array): string {
  return `sha384-${createHash("sha384").update(code).digest("base64")}`;
}
