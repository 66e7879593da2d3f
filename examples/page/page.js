// Open index.html?key=ed25519:…&server=http://…
// lethe.js is packages/device/dist/browser/lethe.js, copied here together with the files beside it: a script-src 'self' policy will do.
import { openLethe } from "./lethe.js";

const { searchParams } = new URL(location.href);
const lethe = await openLethe({
  server: searchParams.get("server") ?? "http://127.0.0.1:8080",
  task: "editor-health",
  operatorKey: searchParams.get("key") ?? "",
});
document.querySelector("button").addEventListener("click", () => lethe.record("export.failed"));
