// node index.mjs ed25519:…   counts an event every second. The key is what `lethe serve` prints.
import { openLethe } from "@lethe/device";
import { fileStore } from "@lethe/device/node";

const lethe = await openLethe({
  server: process.env.LETHE_SERVER ?? "http://127.0.0.1:8080",
  task: "editor-health",
  operatorKey: process.argv[2] ?? "",
  store: fileStore("./lethe-state"),
  onProblem: (problem) => console.error(`${problem.code}: ${problem.message}`),
});
setInterval(() => lethe.record("export.failed"), 1000);
process.once("SIGINT", async () => {
  await lethe.close();
  process.exit(0);
});
