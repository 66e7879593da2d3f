import { spawn } from "node:child_process";

/**
 * Opens a page in the user's browser, where there is a screen and not in CI. If that fails, the user has the printed
 * address.
 */
export function openBrowser(page: string): void {
  const [command, ...args] = browserCommand(page, process);
  if (command === undefined) return;
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

/** The command that opens a page on this system; empty where nobody would see it. */
export function browserCommand(
  page: string,
  { platform, env }: Pick<NodeJS.Process, "platform" | "env">,
): readonly string[] {
  if (env.CI) return [];
  if (platform === "darwin") return ["open", page];
  if (platform === "win32") return ["cmd", "/c", "start", "", page];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open", page] : [];
}
