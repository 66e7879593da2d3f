import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Stands for the program that opens pages on a Linux desktop: notes the address in a file. */
export interface FakeBrowser {
  /** The file with the addresses that were opened, one per line; missing before the first. */
  readonly opened: string;
  /** A desktop whose program it is. */
  readonly env: Readonly<Record<"PATH" | "DISPLAY" | "WAYLAND_DISPLAY" | "CI", string>>;
}

/** Writes the program into a folder. */
export function fakeBrowser(folder: string): FakeBrowser {
  const opened = join(folder, "opened.txt");
  writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$1" >>'${opened}'\n`, { mode: 0o755 });
  return { opened, env: { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ":99", WAYLAND_DISPLAY: "", CI: "" } };
}
