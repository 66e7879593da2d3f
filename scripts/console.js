// Builds the console's static files, in packages/console/dist/site.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
await build({ configFile: join(root, "packages", "console", "vite.config.ts") });
