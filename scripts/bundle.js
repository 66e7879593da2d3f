// The SDK for pages without a bundler: packages/device/dist/browser/lethe.js, minified. What only ElGamal tasks need
// lies beside it and is loaded when such a task comes.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const device = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "device");

const bundle = await rolldown({
  input: { lethe: join(device, "dist", "index.js") },
  // What ElGamal needs of the rest it takes from the one file, instead of splitting it.
  preserveEntrySignatures: "allow-extension",
});
await bundle.write({
  dir: join(device, "dist", "browser"),
  format: "esm",
  minify: true,
  cleanDir: true,
  chunkFileNames: "[name].js",
});
await bundle.close();
