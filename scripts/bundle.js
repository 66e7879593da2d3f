// Builds the SDK for pages without a bundler, minified, in packages/device/dist/browser:
// - lethe.js. Rotations, ElGamal and two servers, which only some tasks need, are in files beside it and loaded on demand;
// - lethe-all.js, everything in one file, for service workers, extensions and script tags. The service delivers it at /lethe.js.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { withShortNames } from "./short-names.js";

const device = join(dirname(fileURLToPath(import.meta.url)), "..", "packages", "device");
const folder = join(device, "dist", "browser");

/** Bundles the SDK; returns the files. */
async function build(input, output) {
  const bundle = await rolldown({
    input: { lethe: join(device, "dist", "index.js") },
    // Files that are loaded later import from the first file, instead of splitting it.
    preserveEntrySignatures: "allow-extension",
    // lethe-all.js contains what lethe.js loads on demand, so these imports have no effect there.
    checks: { ineffectiveDynamicImport: false },
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

/** The modules that are used if only imports on demand of these names are followed, from the SDK or from another file. */
async function modulesWith(names, from) {
  const resolveDynamicImport = (id) => (names.test(id) ? undefined : { id, external: true });
  const files = await build({ plugins: [{ name: "with", resolveDynamicImport }], ...(from && { input: from }) });
  return new Set(files.flatMap(({ moduleIds }) => moduleIds));
}

// Each file has the modules that no file before it has. counting.js has those that rotations share with others, curve.js
// the encryption of ElGamal and what else its statistics for one server and for two share. collusion.js, for few tasks of
// two servers, shares curve.js with two-server.js, and categories.js with elgamal.js.
const [always, forRotations, forElGamal, forTwoServers, againstCollusion] = [
  await modulesWith(/^$/),
  await modulesWith(/rotations/),
  await modulesWith(/elgamal/),
  await modulesWith(/two-server/),
  await modulesWith(/^$/, join(device, "..", "core", "dist", "device", "collusion.js")),
];
const groups = [
  { name: "lethe", test: (id) => always.has(id) },
  { name: "counting", test: (id) => forRotations.has(id) && (forElGamal.has(id) || forTwoServers.has(id)) },
  {
    name: "curve",
    test: (id) =>
      (forElGamal.has(id) && (forTwoServers.has(id) || /\bencryption\b/.test(id))) ||
      (forTwoServers.has(id) && againstCollusion.has(id)),
  },
  { name: "categories", test: (id) => forElGamal.has(id) && againstCollusion.has(id) },
];
const split = await build({}, { codeSplitting: { groups, includeDependenciesRecursively: false } });
const whole = await build({ input: { "lethe-all": join(device, "dist", "script-tag.js") } }, { codeSplitting: false });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { fileName, code } of [...split, ...whole]) {
  // These comments were for the bundler. Behind a word such as `return` they stand for a space.
  const uncommented = code.replaceAll(/(\w?)\/\* @__PURE__ \*\/ /g, (_, before) => before && `${before} `);
  writeFileSync(join(folder, fileName), withShortNames(uncommented));
}
