import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const script = <T>(name: string): Promise<T> => import(new URL(`../../../scripts/${name}`, import.meta.url).href);

interface Entry {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
}
interface Lockfile {
  readonly packages: Readonly<Record<string, Entry>>;
}

describe("the bill of materials", async () => {
  interface Component {
    readonly "bom-ref": string;
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly { readonly expression: string }[];
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  }
  interface Bom {
    readonly bomFormat: string;
    readonly specVersion: string;
    readonly components: readonly Component[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  }
  const { sbomOf } = await script<{ sbomOf: (root: string) => Bom }>("sbom.js");
  const bom = sbomOf(root);

  it("has every package that a user installs, as it is in node_modules, and no tool", () => {
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lockfile;
    const shipped = Object.entries(packages).filter(([path, { dev }]) => path.includes("node_modules/") && !dev);
    const known = new Set(bom.components.map(({ purl }) => purl));
    let installed = 0;
    for (const [path] of shipped) {
      if (!existsSync(join(root, path, "package.json"))) continue;
      installed++;
      const { name, version } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as Component;
      expect(known).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    }
    expect(installed).toBeGreaterThan(50);
    const names = bom.components.map(({ name }) => name);
    for (const name of ["@lethe/core", "fastify", "preact"]) expect(names).toContain(name);
    for (const name of ["vitest", "typescript", "fast-check", "vite"]) expect(names).not.toContain(name);
  });

  it("has for each the licence, the hash of the lockfile, and what it depends on", () => {
    const refs = new Set(bom.components.map((each) => each["bom-ref"]));
    expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
    expect(refs.size).toBe(bom.components.length);
    for (const { name, licenses, hashes } of bom.components) {
      expect(licenses[0]?.expression, name).toMatch(/^[\w.-]+( (OR|AND) [\w.-]+)*$/);
      if (!name.startsWith("@lethe/")) expect(hashes?.[0]?.content, name).toMatch(/^[0-9a-f]{128}$/);
    }
    expect(bom.dependencies.map(({ ref }) => ref).sort()).toEqual(["lethe", ...refs].sort());
    for (const { dependsOn } of bom.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
    const server = bom.dependencies.find(({ ref }) => ref.startsWith("pkg:npm/%40lethe/server@"));
    expect(server?.dependsOn.map((ref) => ref.replace(/@[^@]*$/, ""))).toContain("pkg:npm/fastify");
  });

  it("is the same every time", () => {
    expect(JSON.stringify(sbomOf(root))).toBe(JSON.stringify(bom));
  });
});

describe("licences", async () => {
  const { forbiddenLicenses } = await script<{ forbiddenLicenses: (lockfile: Lockfile) => string[] }>("licenses.js");
  const judge = (entry: Entry): number =>
    forbiddenLicenses({ packages: { "node_modules/a": { version: "1", ...entry } } }).length;

  it.each([
    ["MIT", 0, 0],
    ["(MIT OR GPL-3.0)", 0, 0],
    ["MPL-2.0", 1, 0],
    ["MIT AND MPL-2.0", 1, 0],
    ["GPL-3.0", 1, 1],
    ["SEE LICENSE IN LICENSE", 1, 1],
    [undefined, 1, 1],
  ])("%s: %i refused in what we ship, %i in our tools", (license, shipped, tools) => {
    const entry = license === undefined ? {} : { license };
    expect([judge(entry), judge({ ...entry, dev: true })]).toEqual([shipped, tools]);
  });
});

describe("signatures", async () => {
  interface Result {
    readonly status: number | null;
    readonly stdout?: string;
    readonly stderr?: string;
  }
  type Verdict = "verified" | { readonly skipped: string } | { readonly failed: string };
  const { verdictOf } = await script<{ verdictOf: (result: Result) => Verdict }>("signatures.js");
  const judge = (status: number | null, json: object | undefined, stderr = ""): Verdict =>
    verdictOf({ status, stdout: json ? JSON.stringify(json) : "", stderr });
  const bad = { name: "fastify", version: "5.0.0", code: "EINTEGRITYSIGNATURE" };

  it("are verified if npm says so", () => {
    expect(judge(0, { invalid: [], missing: [] })).toBe("verified");
  });

  it("that are bad or missing fail, whatever else npm says", () => {
    expect(judge(1, { invalid: [bad], missing: [] })).toEqual({ failed: "fastify@5.0.0: invalid signature" });
    expect(judge(1, { invalid: [], missing: [bad] })).toEqual({ failed: "fastify@5.0.0: missing signature" });
    expect(judge(1, { invalid: [bad] }, "npm error code ENOTFOUND")).toHaveProperty("failed");
    expect(judge(0, { invalid: [bad] })).toHaveProperty("failed");
    expect(judge(1, undefined, "npm error code EINTEGRITY network")).toHaveProperty("failed");
    expect(judge(1, undefined, "npm error code EATTESTATIONVERIFY")).toHaveProperty("failed");
  });

  it("are skipped, with the reason, where npm cannot ask or the registry has no keys", () => {
    expect(judge(1, { error: { code: "ENOTFOUND", summary: "request failed" } })).toEqual({ skipped: "ENOTFOUND" });
    const none = "found no dependencies to audit that were installed from a supported registry";
    expect(judge(1, { error: { summary: none } })).toEqual({ skipped: "the registry has no keys" });
    expect(judge(null, undefined)).toEqual({ skipped: "npm took too long" });
  });

  it("fail for any other reason", () => {
    expect(judge(1, undefined, "npm error something else")).toEqual({ failed: "npm error something else" });
    expect(judge(1, undefined)).toEqual({ failed: "npm ended with 1" });
  });
});
