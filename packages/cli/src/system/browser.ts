import { spawn } from "node:child_process";

/**
 * Opens a page in the user's browser, where there is a screen and not in CI. If that fails, the user has the printed
 * address.
 */
export function openBrowser(page: string): void {
  const [command, ...args] = browserCommand(page);
  if (command === undefined || process.env.CI) return;
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

function browserCommand(page: string): readonly string[] {
  if (process.platform === "darwin") return ["open", page];
  if (process.platform === "win32") return ["cmd", "/c", "start", "", page];
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ["xdg-open", page] : [];
}
