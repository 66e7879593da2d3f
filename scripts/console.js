// Builds the console's static files, in packages/console/dist/site: always for production, whatever the environment says. Otherwise
// Vite writes warnings for developers into them, and with those the paths of this machine.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

process.env.NODE_ENV = "production";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
await build({ configFile: join(root, "packages", "console", "vite.config.ts") });
