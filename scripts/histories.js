// Bundles the simulator of histories, which is TypeScript in packages/lab/test/histories, and runs it: npm run histories
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const input = join(root, "packages/lab/test/histories/main.ts");
const cache = join(root, "node_modules/.cache/lethe-histories");

/** Simulated processes leave much garbage, and little of it lasts. */
const HEAP = ["--min-semi-space-size=32", "--max-semi-space-size=32"];

/** Everything else stays where it is: the real code is tested, as it was compiled. */
const leaveOut = {
  name: "leave out",
  resolveId(id, importer) {
    if (importer === undefined || /^\.\.?\/[\w-]+\.ts$/.test(id)) return undefined;
    const [path] = id.startsWith("../../../") ? [join(dirname(importer), id)] : [];
    return { id: path ? new URL(`file://${path}`).href : id, external: true };
  },
};

const bundle = await rolldown({ input, platform: "node", plugins: [leaveOut] });
const { output } = await bundle.generate({ format: "esm" });
await bundle.close();
const files = output.filter(({ type }) => type === "chunk");
const version = createHash("sha256")
  .update(files.map(({ code }) => code).join("\n"))
  .digest("hex")
  .slice(0, 16);
const folder = join(cache, version);
if (!existsSync(folder)) {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const { fileName, code } of files) writeFileSync(join(unfinished, fileName), code);
  try {
    renameSync(unfinished, folder);
  } catch {
    // Another process was quicker.
    rmSync(unfinished, { recursive: true });
  }
}
const child = spawn(process.execPath, [...HEAP, join(folder, "main.js"), ...process.argv.slice(2)], {
  stdio: "inherit",
});
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
