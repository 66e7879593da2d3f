import { windowSeconds } from "@lethe/core/message";
import type { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import type { Network } from "./network.ts";
import { ADMIN_TOKEN, HELPER_HOST, PUBLIC_HOST, TALLY_HOST } from "./services.ts";
import type { World } from "./world.ts";

/** The operators create the task, and a new version of it; they ask until it is done. */
export async function createTask(
  world: World,
  network: Network,
  { topology, task }: History,
  version: number,
): Promise<void> {
  const admin = world.spawn("admin");
  const ask = async (host: string, path: string): Promise<void> => {
    for (;;) {
      try {
        const response = await network.fetchOf(admin)(`http://${host}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ ...task, version }),
        });
        if (response.ok) return;
      } catch {
        // Nobody listens yet.
      }
      await new Promise((resolve) => world.later(1000, admin, () => resolve(undefined)));
    }
  };
  world.later(0, admin, async () => {
    if (topology === "pair") await ask(HELPER_HOST, "/v1/agreements");
    await ask(topology === "several" || topology === "divided" ? TALLY_HOST : PUBLIC_HOST, "/v1/tasks");
  });
}

/** What operators do, and what happens to whole hosts, at its time. */
export function scheduleFaults(history: History, world: World, network: Network, faults: Faults): void {
  const { task, topology } = history;
  for (const fault of history.faults) {
    if (!("at" in fault)) continue;
    world.later(1000 * fault.at, undefined, () => {
      faults.note(fault.what, "everybody");
      if (fault.what === "new version") void createTask(world, network, history, 2);
      if (fault.what === "helper away") {
        network.setAway(HELPER_HOST, true);
        world.later(1000 * fault.seconds, undefined, () => network.setAway(HELPER_HOST, false));
      }
      if (fault.what !== "closed early") return;
      const admin = world.spawn("closing admin");
      const host = topology === "several" || topology === "divided" ? TALLY_HOST : PUBLIC_HOST;
      const window = Math.floor(world.now() / 1000 / windowSeconds(task));
      for (let i = 0; i < fault.times; i++) {
        world.later(0, admin, () =>
          network
            .fetchOf(admin)(`http://${host}/v1/tasks/${task.task}/windows/${window}/close`, {
              method: "POST",
              headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
            })
            .catch(() => undefined),
        );
      }
    });
  }
}
