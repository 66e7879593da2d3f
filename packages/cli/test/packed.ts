import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { environment } from "./lethe.ts";
import { type FencedBlock, fencedBlocks } from "./markdown.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

export const PACKAGES = ["core", "files", "device", "server", "analyst", "console", "lab", "cli"] as const;
export type PackageName = (typeof PACKAGES)[number];

/** The README and the pages that it sends a newcomer to: a reader can run every command in them. */
const GUIDES = ["README.md", "docs/try.md", "docs/install.md", "docs/run-a-service.md"];

/** The blocks of a file of the repository. */
export function blocksOf(file: string): FencedBlock[] {
  return fencedBlocks(readFileSync(join(root, file), "utf8"));
}

/** The one shell block of the guides that has these words. */
export function shellBlock(words: string): string {
  const blocks = GUIDES.flatMap(blocksOf).filter(({ language, text }) => language === "sh" && text.includes(words));
  const [block] = blocks;
  if (block === undefined || blocks.length > 1)
    throw new Error(`the guides have ${blocks.length} blocks with ${words}`);
  return block.text;
}

/** What a guide prints below its shell block with these words. */
export function outputBelow(words: string): string {
  const blocks = GUIDES.flatMap(blocksOf);
  const at = blocks.findIndex(({ language, text }) => language === "sh" && text.includes(words));
  return blocks[at + 1]?.text as string;
}

/** Every program in a README, by the package whose README it is; "readme" is the repository's, "library" is its page. */
export function examples(): { name: string; code: string }[] {
  const files = [
    ["library", "docs/library.md"],
    ["readme", "README.md"],
    ...PACKAGES.map((name) => [name, `packages/${name}/README.md`]),
  ] as const;
  return files.flatMap(([name, file]) =>
    blocksOf(file as string)
      .filter(({ language }) => ["ts", "js"].includes(language))
      .map(({ language, text }) => ({ name: `${name}-${language}`, code: text })),
  );
}

/** A folder outside of the repository with the packages, as `npm pack` makes them, and empty projects. */
export interface Workshop {
  /** An empty project in which the line of docs/install.md with these words installed the packages, and whatever else is asked. */
  createProject(name: string, words: string, ...more: string[]): Project;
  remove(): void;
}

export interface Project {
  readonly folder: string;
  /** Runs a script as a reader would; `npx` takes what is installed or nothing. What it prints, if it ends well. */
  run(script: string, env?: Readonly<Record<string, string>>): string;
  /** Compiles what is in `src`, libraries and all, to `out`; what is wrong. */
  compile(options: Readonly<Record<string, unknown>>): string;
  /** The files of an installed package and their bytes. */
  shipped(name: PackageName): Map<string, number>;
}

/** Packs what is built: the build itself is left out, as other tests use its outputs. */
export function openWorkshop(): Workshop {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lethe-packed-")));
  const script = (words: string) => shellBlock(words).replaceAll("/tmp", folder);
  sh(root, script("npm pack"), { npm_config_ignore_scripts: "true" });
  return {
    createProject(name, words, ...more) {
      const project = join(folder, name);
      mkdirSync(join(project, "src"), { recursive: true });
      writeFileSync(join(project, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
      const install = script("npm install")
        .split("\n")
        .find((line) => line.includes(words)) as string;
      sh(project, [install, ...more].join(" "), {
        npm_config_prefer_offline: "true",
        // Nothing that is installed refuses the Node that the packages promise to run on.
        npm_config_engine_strict: "true",
        npm_config_audit: "false",
        npm_config_fund: "false",
      });
      return openProject(project);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function openProject(folder: string): Project {
  return {
    folder,
    run: (script, env) => sh(folder, script, env),
    compile(options) {
      const compilerOptions = { strict: true, skipLibCheck: false, rootDir: "src", outDir: "out", ...options };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
      return spawnSync(process.execPath, [tsc, "-p", folder], { cwd: folder, encoding: "utf8" }).stdout;
    },
    shipped(name) {
      const installed = join(folder, "node_modules", "@lethe", name);
      const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
      const sizes = files.map((file) => [file.replaceAll("\\", "/"), statSync(join(installed, file))] as const);
      return new Map(sizes.filter(([, stat]) => stat.isFile()).map(([file, stat]) => [file, stat.size]));
    },
  };
}

function sh(cwd: string, script: string, env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-euc", script], {
    cwd,
    encoding: "utf8",
    env: environment({ npm_config_yes: "false", ...env }),
  });
  if (status !== 0) throw new Error(`${script}\nended with ${status}\n${stdout}${stderr}`);
  return stdout;
}

/** A running program, which the caller ends. */
export function startProgram(cwd: string, file: string) {
  const child = spawn(process.execPath, [file], { cwd, env: environment(), stdio: ["ignore", "pipe", "pipe"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = once(child, "exit").then(async ([status]) => {
    const [stdout, stderr] = await output;
    return { status: status as number | null, stdout, stderr };
  });
  return { ended, stop: () => child.kill("SIGKILL") };
}
