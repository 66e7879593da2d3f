import { execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "./eventually.ts";
import { isFree } from "./postgres.ts";

/** Whether Debian's packages for `examples/cluster` are here. */
export const isPatroniInstalled: boolean = ["/usr/bin/patroni", "/usr/bin/etcd", "/usr/lib/postgresql"].every((path) =>
  existsSync(path),
);

/** The nodes use some of as many ports. */
const PORTS = 40;
/** Asking costs as much as starting Node. */
const STATUS_MS = 300;

/** The cluster of `examples/cluster`: three PostgreSQL nodes under Patroni and three etcd members. */
export interface PatroniCluster {
  /** Of an empty database, with all hosts. */
  readonly url: string;
  /** The same through HAProxy; undefined if that is not installed. */
  readonly proxyUrl: string | undefined;
  /** Kills a node with `kill.mjs` and lets it start again after `downSeconds`; its name. */
  kill(what: "primary" | "standby" | "etcd", downSeconds: number): Promise<string>;
  /** Lets the primary hang for `seconds`, and resolves when it goes on; its name. */
  freezePrimary(seconds: number): Promise<string>;
  /** Resolves when `status.mjs` finds every node well. */
  untilWell(): Promise<void>;
  /** Asks it to stop, as Ctrl-C does, and deletes its folder. */
  remove(): Promise<void>;
}

/** Starts the example, on any free ports. It stops when this process ends, however that happens. */
export async function startPatroni(): Promise<PatroniCluster> {
  const outer = await mkdtemp(join(tmpdir(), "lethe-patroni-"));
  await chmod(outer, 0o755);
  const where = ["--folder", join(outer, "cluster"), "--ports", String(await freePorts())];
  const child = spawn("setpriv", ["--pdeathsig=TERM", process.execPath, scriptOf("start"), ...where], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const remove = async (): Promise<void> => {
    child.kill("SIGINT");
    await ended;
    const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "args="]);
    if (stdout.includes(outer)) throw new Error(`the cluster left processes behind:\n${stdout}`);
    await rm(outer, { recursive: true, force: true });
  };
  try {
    const [url, proxyUrl] = await urlsFrom(createInterface(child.stdout), ended);
    return {
      ...{ url, proxyUrl },
      kill: async (what, downSeconds) => {
        const { stdout } = await run("kill", what, "--down", String(downSeconds), ...where);
        return nodeIn(stdout);
      },
      freezePrimary: async (seconds) =>
        nodeIn((await run("kill", "primary", "--freeze", String(seconds), ...where)).stdout),
      untilWell: async () => {
        await eventually(async () => {
          await sleep(STATUS_MS);
          return run("status", ...where).catch(unlessUnwell);
        });
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A port that is followed by enough free ones, all of them below those that the system gives to clients. */
async function freePorts(): Promise<number> {
  for (;;) {
    const first = randomInt(10_000, 32_768 - PORTS);
    const areFree = await Promise.all(Array.from({ length: PORTS }, (_, i) => isFree(first + i)));
    if (!areFree.includes(false)) return first;
  }
}

/** The node that `kill.mjs` has killed, or frozen. */
const nodeIn = (stdout: string): string => /^\w+ (\w+)/.exec(stdout)?.[1] ?? "";

/** A script of the example. */
export const scriptOf = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/cluster/${name}.mjs`, import.meta.url));

function run(name: string, ...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, [scriptOf(name), ...args]);
}

/** `status.mjs` ends with 1 if a node is not well; anything else is a finding. */
function unlessUnwell(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 1) throw error;
}

/** The lines that a user would copy: one, or two if there is a proxy. */
async function urlsFrom(
  lines: AsyncIterable<string>,
  ended: Promise<unknown>,
): Promise<readonly [url: string, proxyUrl: string | undefined]> {
  const urls: string[] = [];
  const found = (async () => {
    for await (const line of lines) {
      const [, url] = /^export DATABASE_URL='(.*)'$/.exec(line) ?? [];
      if (url !== undefined) urls.push(url);
      // It comes last.
      if (line.startsWith("Ctrl-C")) return;
    }
  })();
  await Promise.race([found, ended]);
  const [url, proxyUrl] = urls;
  if (url === undefined) throw new Error("the cluster did not start");
  return [url, proxyUrl];
}
