// Prints every node of the cluster with its role and state, and ends with code 0 if all are well, else 1.
// Usage: node status.mjs [--folder …] [--ports …]
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { FOLDER, nodesIn, PORTS, statusOf } from "./nodes.mjs";

const { values } = parseArgs({
  options: { folder: { type: "string", default: FOLDER }, ports: { type: "string", default: PORTS } },
});
const status = await statusOf(nodesIn(resolve(values.folder), Number(values.ports)));
for (const { name, role, state } of status) console.log(`${name}\t${role}\t${state}`);
const roles = status.map(({ role }) => role);
const isWell = status.every((node) => node.isWell) && roles.includes("leader") && roles.includes("sync_standby");
process.exitCode = isWell ? 0 : 1;
