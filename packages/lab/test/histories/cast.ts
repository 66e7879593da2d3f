import { join } from "node:path";
import { openKeyFile } from "../../../server/dist/tally/key-file.js";
import type { SimulatedDatabase } from "./database.ts";
import type { Engine } from "./engine.ts";
import { type History, PROCESSES } from "./history.ts";
import type { WatchedEngine } from "./oracle.ts";
import { HELPER_HOST, PUBLIC_HOST, type ServiceSpec, TALLY_HOST } from "./services.ts";
import type { World } from "./world.ts";

/** What only the leader and the helper know. */
export const PEER_SECRET = "what only the leader and the helper of the simulation know";

/** The databases of a history, with the key files that open what is in them. */
export function watchedEngines({ topology }: History, engines: readonly Engine[], folder: string): WatchedEngine[] {
  const names = { one: ["first"], several: ["first"], divided: ["first", "second"], pair: ["leader", "helper"] }[
    topology
  ];
  return names.map((name, i) => ({
    name,
    engine: engines[i] as Engine,
    keyFile: join(folder, `${topology === "pair" ? name : "one"}.keys.json`),
  }));
}

/** Makes the key files; the operator keys. */
export function makeKeyFiles(world: World, watched: readonly WatchedEngine[]): string[] {
  const setup = world.spawn("setup");
  return watched.map(({ name, keyFile }) =>
    world.as(setup, name, () => {
      const file = openKeyFile(keyFile);
      file.close();
      return file.operatorKey;
    }),
  );
}

/** The processes of a history. */
export function specsOf(
  { topology }: History,
  databases: readonly SimulatedDatabase[],
  watched: readonly WatchedEngine[],
  keys: readonly string[],
): ServiceSpec[] {
  return PROCESSES[topology].map((name): ServiceSpec => {
    const [kind = ""] = name.split(" ");
    if (kind === "leader" || kind === "helper") {
      const own = kind === "leader" ? 0 : 1;
      const peer = { secret: PEER_SECRET, operatorKey: keys[1 - own] as string };
      return {
        name,
        role: kind,
        host: kind === "leader" ? PUBLIC_HOST : HELPER_HOST,
        databases: [databases[own] as SimulatedDatabase],
        keyFile: watched[own]?.keyFile as string,
        peer: kind === "leader" ? { ...peer, url: `http://${HELPER_HOST}` } : peer,
      };
    }
    const role = kind as "all" | "intake" | "tally";
    const host = role === "tally" ? TALLY_HOST : PUBLIC_HOST;
    return { name, role, host, databases, keyFile: watched[0]?.keyFile as string };
  });
}
