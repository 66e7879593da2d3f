import { readFileSync } from "node:fs";

interface KeyFileContent {
  readonly operator: string;
  readonly chain: string;
  readonly windows: Readonly<Record<string, string>>;
}

/** What a key file says, as text. */
export function readKeyFile(path: string): KeyFileContent {
  return JSON.parse(readFileSync(path, "utf8")) as KeyFileContent;
}

/** The windows of a task whose secret is in the file. */
export function windowsIn(path: string, task: string): number[] {
  const names = Object.keys(readKeyFile(path).windows).filter((name) => name.startsWith(`${task}/`));
  return names.map((name) => Number(name.slice(task.length + 1)));
}

/** Every secret in the file, as text. */
export function secretsIn(path: string): string[] {
  const { operator, chain, windows } = readKeyFile(path);
  return [operator, chain, ...Object.values(windows)];
}
