import { fetchManifest } from "@lethe/analyst";
import { eventsOf, type Manifest } from "@lethe/core/message";
import { indexedDbStore, type LetheError, openLethe } from "@lethe/device";
import type { JoinedDevice } from "./running-device.ts";
import { watched } from "./watched-store.ts";

/** Which task to join. */
export interface JoinOptions {
  readonly server: string;
  readonly operatorKey: string;
  readonly manifest: Manifest;
  readonly group: string | undefined;
}

/** What the service asks of devices. The SDK checks the signature when it joins. */
export function fetchTask(server: string, task: string): Promise<Manifest> {
  return fetchManifest(server, task);
}

/**
 * Makes this browser a device of a task of the service: with the real SDK, its real store and the real time. It opens
 * without the network, and counts once the service has issued keys. Closing leaves what is stored: a report that was not
 * sent yet is sent when the task is joined again.
 */
export async function joinTask({ server, operatorKey, manifest, group }: JoinOptions): Promise<JoinedDevice> {
  const helperKey = manifest.servers.find(({ role }) => role === "helper")?.key;
  const { store, latest } = watched(indexedDbStore(`console ${manifest.task}`));
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    ...{ server, task: manifest.task, operatorKey, store },
    ...(helperKey !== undefined && { helperKey }),
    ...(group !== undefined && { group }),
    onProblem: (problem) => problems.push(problem),
  });
  return {
    manifest,
    events: eventsOf(manifest),
    record: (name) => {
      const before = problems.length;
      lethe.record(name);
      return problems[before]?.message;
    },
    stored: latest,
    isCounting: () => lethe.inspect().memory.length > 0,
    problem: () => problems.at(-1)?.message,
    wipe: async () => {
      await lethe.setConsent(false);
      await lethe.close();
    },
    close: () => lethe.close(),
  };
}
