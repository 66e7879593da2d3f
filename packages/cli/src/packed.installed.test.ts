import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, START_TIMEOUT, startService } from "../test/lethe.ts";
import {
  examples,
  openWorkshop,
  outputBelow,
  PACKAGES,
  type PackageName,
  type Project,
  shellBlock,
  startProgram,
  type Workshop,
} from "../test/packed.ts";

const root = new URL("../../../", import.meta.url);
const INSTALL_TIMEOUT = 900_000;
/** Windows of ten seconds can be over before a busy machine is done. */
const BUSY = { retry: 5 };
/** What the packages may have unpacked, in bytes: about a third more than they had when this was written. */
const MOST_BYTES: Record<PackageName, number> = {
  core: 950_000,
  files: 35_000,
  device: 400_000,
  server: 650_000,
  analyst: 80_000,
  console: 900_000,
  lab: 560_000,
  cli: 180_000,
};
/** In READMEs, of a service that listens where `lethe serve` does. */
const README_SERVER = "http://127.0.0.1:8080";
const README_KEY = "ed25519:…";

let workshop: Workshop;
/** Has core, files and device, for a bundler. */
let application: Project;
/** Has everything, for Node. */
let operator: Project;
beforeAll(() => {
  workshop = openWorkshop();
  const { devDependencies } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  application = workshop.createProject("application", "lethe-device");
  operator = workshop.createProject("operator", "lethe-*", `'@types/node@${devDependencies["@types/node"]}'`);
}, INSTALL_TIMEOUT);
afterAll(() => workshop.remove());

describe("what is packed", () => {
  it.each(PACKAGES)("%s: programs, declarations and what npm wants, nothing that tests or builds", (name) => {
    const shipped = operator.shipped(name);
    const files = [...shipped.keys()];
    const wanted =
      /^(package\.json|README\.md|LICENSE|bin\/lethe\.js|dist\/.*\.js|dist\/.*\.d\.ts|dist\/site\/.*\.(html|css|svg))$/;
    expect(files.filter((file) => !wanted.test(file))).toEqual([]);
    expect(files.filter((file) => /\b(test|bench|vectors)\b/.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
    expect([...shipped.values()].reduce((sum, bytes) => sum + bytes)).toBeLessThan(MOST_BYTES[name]);
  });

  it.each(PACKAGES)("%s: no file without a source, and the repository's license", (name) => {
    const built = [...operator.shipped(name).keys()].filter((file) => /^dist\/(?!browser\/|site\/)/.test(file));
    const source = (file: string) => file.replace(/^dist\/(.*?)(\.d\.ts|\.js)$/, `packages/${name}/src/$1.ts`);
    expect(built.filter((file) => !existsSync(new URL(source(file), root)))).toEqual([]);
    const license = join(operator.folder, "node_modules", "@lethe", name, "LICENSE");
    expect(readFileSync(license, "utf8")).toBe(readFileSync(new URL("LICENSE", root), "utf8"));
  });

  it("an application gets the SDK, the core and the lock file, and nothing of the service", () => {
    expect(application.run("ls node_modules")).toBe("@hpke\n@lethe\n@noble\n");
    expect(application.run("ls node_modules/@lethe")).toBe("core\ndevice\nfiles\n");
  });
});

describe("the programs in the READMEs", () => {
  const programs = examples();

  it("there is one for each package but the command and the page", () => {
    expect(programs.map(({ name }) => name)).toEqual([
      "library-ts",
      "readme-js",
      "core-ts",
      "device-js",
      "server-ts",
      "analyst-js",
      "lab-ts",
    ]);
  });

  it("compile for a page, through a bundler, without the types of Node", () => {
    for (const { name, code } of programs.filter(({ name }) => /^(library|readme|core)/.test(name))) {
      writeFileSync(join(application.folder, "src", `${name}.ts`), code);
    }
    const found = application.compile({
      target: "ES2022",
      lib: ["ES2022", "DOM"],
      module: "ESNext",
      moduleResolution: "Bundler",
      types: [],
    });
    expect(found).toBe("");
  });

  it("compile for Node", () => {
    for (const { name, code } of programs) writeFileSync(join(operator.folder, "src", `${name}.ts`), code);
    const found = operator.compile({
      target: "ES2022",
      module: "NodeNext",
      moduleResolution: "NodeNext",
      types: ["node"],
    });
    expect(found).toBe("");
  });

  it.each([
    ["library-ts", /(standardError: 0\.98.*){2}/s],
    ["core-ts", /^7\.0[67]\d* 6\.5\d*\n$/],
    ["server-ts", /^http:\/\/127\.0\.0\.1:\d+ ed25519:[\w-]{43}$/m],
    ["lab-ts", /^(\[[^\]]*\]\s*){3}$/],
  ])("%s runs", (name, printed) => {
    expect(operator.run(`node out/${name}.js`)).toMatch(printed);
  });
});

it("git ignores the secrets that the guide's commands make, and the folders of their servers", () => {
  const ignored = readFileSync(new URL(".gitignore", root), "utf8").split("\n");
  const guide = readFileSync(new URL("docs/run-a-service.md", root), "utf8");
  const folders = new Set([...guide.matchAll(/LETHE_DATA=(\w+)/g)].map(([, name]) => `/${name}/`));
  expect(folders.size).toBeGreaterThan(0);
  expect(ignored).toEqual(expect.arrayContaining([...folders, "*.keys", "peer-secret", "/lethe-data*"]));
});

describe("lethe, installed", () => {
  it("explains itself", () => {
    expect(operator.run("npx lethe --help")).toMatch(/^Usage: lethe /);
  });

  it("plan prints what docs/try.md shows", () => {
    // Its columns are as wide as the times need that it measures, and those are longer on a busy machine.
    const narrowed = (text: string): string => text.replaceAll(/ {2,}/g, "  ");
    expect(narrowed(operator.run(shellBlock("lethe plan")))).toContain(narrowed(outputBelow("lethe plan")));
  });

  it("simulate runs the fleet of docs/try.md, if of fewer devices", () => {
    const script = `${shellBlock("lethe simulate --statistic").trim()} --devices 50 --json`;
    expect(JSON.parse(operator.run(script))).toMatchObject({ devices: 50, valid: 50, statistic: "histogram" });
  });
});

/** As npm has installed it. */
const command = (): string => join(operator.folder, "node_modules", ".bin", "lethe");

describe("the service of docs/run-a-service.md", () => {
  let service: RunningService;
  beforeAll(async () => {
    expect(shellBlock("lethe serve --dev\n")).toBe("npx lethe serve --dev\n");
    service = await startService({ cwd: operator.folder, command: command(), database: "new" });
  }, START_TIMEOUT);
  afterAll(async () => {
    service.process.kill("SIGKILL");
    await service.ended;
  });

  function run(script: string): string {
    return operator.run(script.replaceAll(README_SERVER, service.url), { LETHE_SERVER: service.url });
  }

  /** The sum over all labels of one of its metrics. */
  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const values = [...text.matchAll(/^(\w+)(?:\{.*\})? (\d+)$/gm)].filter(([, found]) => found === name);
    return values.reduce((sum, [, , value]) => sum + Number(value), 0);
  }

  /** Runs a compiled program of a README, told where this service is, until one of the service's metrics rises. */
  async function runUntilMore(name: string, watched: string) {
    const code = readFileSync(join(operator.folder, "out", `${name}.js`), "utf8");
    expect(code).toContain(README_SERVER);
    expect(code).toContain(README_KEY);
    const file = join(operator.folder, "out", `${name}-here.js`);
    writeFileSync(file, code.replace(README_SERVER, service.url).replace(README_KEY, service.operatorKey));
    const before = await metric(watched);
    const { ended, stop } = startProgram(operator.folder, file);
    try {
      await expect.poll(() => metric(watched), { timeout: 300_000, interval: 200 }).toBeGreaterThan(before);
    } finally {
      stop();
    }
    return ended;
  }

  it("delivers the SDK that came with it", async () => {
    const installed = join(operator.folder, "node_modules", "@lethe", "device", "dist", "browser", "lethe-all.js");
    const delivered = await fetch(`${service.url}/lethe.js`);
    expect(delivered.headers.get("content-type")).toMatch(/^text\/javascript\b/);
    expect(await delivered.text()).toBe(readFileSync(installed, "utf8"));
  });

  it("collects from a simulated fleet, and releases", BUSY, () => {
    const simulated = run(shellBlock("lethe task create task.json"));
    const [window = ""] = /--window \d+/.exec(simulated) ?? [];
    const results = shellBlock("lethe results")
      .trim()
      .replace(/--window \d+/, window);
    expect(run(results)).toMatch(/^editor-health version 1, window \d+: .* UTC, released /);
    const release = JSON.parse(run(`${results} --json`)) as Release;
    expect(release).toMatchObject({ status: "released", received: 30 });
    expect(release.metrics.map(({ name }) => name)).toEqual(["export.failed", "export.clicks", "tabs.opened"]);
  });

  it("enrols the README's application", async () => {
    expect(await runUntilMore("readme-js", "lethe_enrolments_total")).toMatchObject({ stdout: "", stderr: "" });
  });

  it("gets a report from the SDK's own example, which has no problem to tell", async () => {
    expect(await runUntilMore("device-js", "lethe_reports_total")).toMatchObject({ stdout: "", stderr: "" });
  });
});

describe("the two servers of docs/run-a-service.md", () => {
  const HELPER_SERVER = "http://127.0.0.1:8081";
  const services: RunningService[] = [];
  afterAll(async () => {
    for (const { process } of services) process.kill("SIGKILL");
    await Promise.all(services.map(({ ended }) => ended));
  });

  /** The addresses that the page names are where its servers listen here. */
  function here(script: string): string {
    const [helper, leader] = services.map(({ url }) => url);
    return script.replaceAll(HELPER_SERVER, helper ?? HELPER_SERVER).replaceAll(README_SERVER, leader ?? README_SERVER);
  }

  /** Runs the page's line that starts a server, on a free port. */
  async function serve(role: string): Promise<void> {
    const line = here(shellBlock(`--role ${role}`)).replace(" --port 8081", "");
    expect(line).toMatch(/^LETHE_DATA=\w+ LETHE_PEER_SECRET=\S+ \S+ npx lethe serve --dev --role /);
    const [told = "", args = ""] = operator.run(`echo ${line.replace("npx lethe serve --dev", "/")}`).split(" / ");
    const env = Object.fromEntries(told.split(" ").map((variable) => variable.split("=")));
    services.push(await startService({ cwd: operator.folder, command: command(), env }, ...args.trim().split(" ")));
  }

  it("count what devices told, and an analyst adds their shares up", {
    ...BUSY,
    timeout: START_TIMEOUT * 6,
  }, async () => {
    if (services.length === 0) {
      operator.run(shellBlock("lethe key"));
      await serve("helper");
      await serve("leader");
    }
    const [, leader] = services;
    const script = here(shellBlock("lethe task agree"));
    const simulated = operator.run(script, { LETHE_SERVER: leader?.url ?? "" });
    const [window = ""] = /--window \d+/.exec(simulated) ?? [];
    const collect = here(shellBlock("lethe collect"))
      .trim()
      .replace(/--window \d+/, window);
    expect(operator.run(collect)).toMatch(/^editor-shared version 1, window \d+: .* UTC, released /);
    const release = JSON.parse(operator.run(`${collect} --json`)) as Release;
    expect(release).toMatchObject({ status: "released", received: 12 });
    expect(release.metrics.map(({ name }) => name)).toEqual(["export.failed", "export.clicks", "tabs.opened"]);
  });
});
