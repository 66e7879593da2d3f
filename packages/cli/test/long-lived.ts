import { join } from "node:path";
import { afterEach } from "vitest";
import { type Device, enrol, fetchTask, type KnownTask, reportOf, upload } from "../../server/test/device.ts";
import { copyEmptyDatabase, temporaryFolder } from "../../server/test/folder.ts";
import { runningWindow, YEAR_TASK } from "../../server/test/recount.ts";
import { ADMIN_TOKEN, createTask } from "../../server/test/service.ts";
import { letheWith, type RunningService, startService } from "./lethe.ts";

/** Where a service keeps what it has. */
export interface Place {
  readonly data: string;
  readonly keyFile: string;
}

/** An empty database in this folder, and its keys elsewhere. */
export async function emptyPlace(folder: string): Promise<Place> {
  const data = join(folder, "data");
  await copyEmptyDatabase(data);
  return { data, keyFile: join(temporaryFolder(), "keys") };
}

const ENV = { LETHE_ADMIN_TOKEN: ADMIN_TOKEN };
const placed = ({ data, keyFile }: Place): string[] => ["--data", data, "--key-file", keyFile, "--keys-ahead", "20"];

/** For the tests of a file: services in separate processes, which end with the test, and whose windows last a year. */
export function longLivedServices(): (
  place: Place,
  options?: { readonly within?: readonly string[]; readonly args?: readonly string[] },
) => Promise<RunningService> {
  const running = new Set<RunningService>();
  afterEach(async () => {
    for (const { process, ended } of running) {
      process.kill("SIGKILL");
      await ended;
    }
    running.clear();
  });
  return async (place, { within = [], args = [] } = {}) => {
    const surroundings = { cwd: temporaryFolder(), env: ENV, within, windows: "as the task says" } as const;
    const service = await startService(surroundings, ...placed(place), ...args);
    running.add(service);
    return service;
  };
}

/** Starts it where it is refused. */
export function refusedStart(place: Place, ...args: string[]): ReturnType<typeof letheWith> {
  return letheWith({ cwd: temporaryFolder(), env: ENV }, "serve", "--port", "0", ...placed(place), ...args);
}

export const WINDOW: number = runningWindow(YEAR_TASK);

export async function makeTask(service: RunningService): Promise<KnownTask> {
  await createTask(service, YEAR_TASK);
  return fetchTask(service, YEAR_TASK.task);
}

/** A device and its one report, which is the same whenever it is sent. */
export interface Sender {
  readonly device: Device;
  send(service: { readonly url: string }): Promise<number>;
}

export async function makeSender(service: RunningService, task: KnownTask): Promise<Sender> {
  const device = await enrol(service, task, WINDOW);
  const report = reportOf(device, "first");
  return { device, send: (to) => statusOf(upload(to, device, report)) };
}

export const sendAll = (senders: readonly Sender[], service: RunningService): Promise<number[]> =>
  Promise.all(senders.map(({ send }) => send(service)));

export async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.text();
  return response.status;
}

export async function textAt({ url }: RunningService, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path);
  return { status: response.status, text: await response.text() };
}
