// The SDK for pages without a bundler: packages/device/dist/browser/lethe.js, minified. What only tasks with
// ElGamal or with two servers need lies beside it and is loaded when such a task comes.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { withShortNames } from "./short-names.js";

const device = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "device");
const folder = join(device, "dist", "browser");

/** What a build makes of the SDK. */
async function build(input, output) {
  const bundle = await rolldown({
    input: { lethe: join(device, "dist", "index.js") },
    // What files that follow need of the rest they take from the one file, instead of splitting it.
    preserveEntrySignatures: "allow-extension",
    ...input,
  });
  const { output: files } = await bundle.generate({
    format: "esm",
    minify: true,
    chunkFileNames: "[name].js",
    ...output,
  });
  await bundle.close();
  return files;
}

/** The modules that are used if imports on demand of these names are not followed. */
async function modulesWithout(names) {
  const resolveDynamicImport = (id) => (names.test(id) ? { id, external: true } : undefined);
  const files = await build({ plugins: [{ name: "without", resolveDynamicImport }] });
  return new Set(files.flatMap(({ moduleIds }) => moduleIds));
}

// Each file has what none before it has: a task with two servers loads all three.
const always = await modulesWithout(/./);
const forElGamal = await modulesWithout(/two-server/);
const groups = [
  { name: "lethe", test: (id) => always.has(id) },
  { name: "elgamal", test: (id) => forElGamal.has(id) },
];
const output = await build({}, { codeSplitting: { groups, includeDependenciesRecursively: false } });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { fileName, code } of output) {
  // These were for the bundler.
  writeFileSync(join(folder, fileName), withShortNames(code.replaceAll("/* @__PURE__ */ ", "")));
}
