import { runningNetwork } from "./network.ts";
import { installPlatform } from "./platform.ts";

// Before anything else is loaded: some packages keep the functions that they find at their start.
installPlatform((_world, process) => runningNetwork().fetchOf(process));
const { main } = await import("./command.ts");
await main(process.argv.slice(2));
