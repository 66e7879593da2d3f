// The SDK for pages without a bundler: packages/device/dist/browser/lethe.js, minified. What only ElGamal tasks need
// lies beside it and is loaded when such a task comes.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const device = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "device");
const folder = join(device, "dist", "browser");

const bundle = await rolldown({
  input: { lethe: join(device, "dist", "index.js") },
  // What ElGamal needs of the rest it takes from the one file, instead of splitting it.
  preserveEntrySignatures: "allow-extension",
});
const { output } = await bundle.generate({ format: "esm", minify: true, chunkFileNames: "[name].js" });
await bundle.close();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { fileName, code } of output) {
  // These were for the bundler.
  writeFileSync(join(folder, fileName), code.replaceAll("/* @__PURE__ */ ", ""));
}
