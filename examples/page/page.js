// Open index.html?key=ed25519:…&server=http://…
// Copy packages/device/dist/browser/lethe.js here, together with the files beside it. A policy of script-src 'self' is
// enough. The key is what `lethe serve` prints.
import { openLethe } from "./lethe.js";

const { searchParams } = new URL(location.href);
const lethe = await openLethe({
  server: searchParams.get("server") ?? "http://127.0.0.1:8080",
  task: "editor-health",
  operatorKey: searchParams.get("key") ?? "",
});
document.querySelector("button").addEventListener("click", () => lethe.record("export.failed"));
