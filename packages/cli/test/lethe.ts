import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/lethe.js", import.meta.url));

/** Runs the real command, in a folder if one is given. */
export function letheIn(cwd: string | undefined, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: "utf8", cwd });
  return { status, stdout, stderr };
}

export function lethe(...args: string[]) {
  return letheIn(undefined, ...args);
}
