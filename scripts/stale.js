// tsc keeps the outputs of sources that were deleted, and a package would ship them.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Removes such outputs from a package's dist, except dist/browser and dist/site, which bundlers replace as a whole. */
export function removeStaleOutputs(folder) {
  const dist = join(folder, "dist");
  for (const file of readdirSync(dist, { recursive: true })) {
    const [, source] = /^(?!(?:browser|site)[\\/])(.*?)(?:\.d\.ts|\.js)$/.exec(file) ?? [];
    if (source === undefined || existsSync(join(folder, "src", `${source}.ts`))) continue;
    rmSync(join(dist, file), { force: true });
  }
}
