// The software bill of materials (CycloneDX 1.5, JSON) of what our packages bring with them: `node scripts/sbom.js [file]`.
// It has every package that `npm install lethe` installs, and those that the bundles contain, with versions, licences and
// the hashes of the lockfile. It has no time and no random serial number, so that the same lockfile gives the same bytes.
// We do not use `npm sbom`: it refuses workspaces without a version at the root (EINVALIDPURLTYPE), and draws a serial number.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { lockfileIn } from "./licenses.js";

/** Development dependencies whose code is in the files that we ship. */
const BUNDLED = ["preact"];

/** The bill of materials of the repository in a folder. */
export function sbomOf(root) {
  const { packages } = lockfileIn(root);
  const own = readdirSync(join(root, "packages")).sort();
  const manifests = own.map((name) => JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")));
  const version = manifests[0].version;
  const components = new Map();
  const dependencies = new Map();

  /** The place of a dependency as Node finds it: in the nearest node_modules. */
  function placeOf(name, from) {
    for (let at = from; ; at = at.includes("/node_modules/") ? at.slice(0, at.lastIndexOf("/node_modules/")) : "") {
      const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
      if (packages[place]) return place;
      if (at === "") return undefined;
    }
  }

  function add(place) {
    const entry = packages[place].link ? packages[packages[place].resolved] : packages[place];
    const path = packages[place].link ? packages[place].resolved : place;
    const name = entry.name ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    const purl = `pkg:npm/${name.replace("@", "%40")}@${entry.version}`;
    if (dependencies.has(purl)) return purl;
    components.set(purl, componentOf(name, purl, entry, Boolean(packages[place].link)));
    dependencies.set(purl, []);
    const wanted = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    const bundled = path === "packages/console" ? BUNDLED : [];
    const found = [...wanted, ...bundled].map((each) => placeOf(each, path)).filter((each) => each !== undefined);
    dependencies.set(purl, [...new Set(found.map(add))].sort());
    return purl;
  }

  const roots = manifests.map(({ name }) => add(`node_modules/${name}`));
  const product = {
    type: "application",
    "bom-ref": "lethe",
    name: "lethe",
    version,
    licenses: [{ expression: "Apache-2.0" }],
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: product },
    components: [...components.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1)),
    dependencies: [
      { ref: "lethe", dependsOn: [...roots].sort() },
      ...[...dependencies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, dependsOn]) => ({ ref, dependsOn })),
    ],
  };
}

function componentOf(name, purl, { version, license, integrity }, isOwn) {
  const hashes = (integrity ?? "")
    .split(" ")
    .filter((each) => each.startsWith("sha512-"))
    .map((each) => ({ alg: "SHA-512", content: Buffer.from(each.slice("sha512-".length), "base64").toString("hex") }));
  return {
    ...{ type: "library", "bom-ref": purl, name, version, purl },
    licenses: [{ expression: license ?? (isOwn ? "Apache-2.0" : "NOASSERTION") }],
    ...(hashes.length > 0 && { hashes }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const text = `${JSON.stringify(sbomOf(root), undefined, 2)}\n`;
  const [, , file] = process.argv;
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}
