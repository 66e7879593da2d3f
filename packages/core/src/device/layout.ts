import { statisticsOf, type Task } from "../message/task.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import { createDevice } from "./create-device.ts";

/** The device's half of a statistic of a task, at its place in the messages. */
export interface DeviceLayoutPart {
  readonly device: DeviceSide;
}

/** The same parts in the same order as at the servers. */
export type DeviceLayout = readonly DeviceLayoutPart[];

/** Of a task of one server. */
export function deviceLayoutOf(task: Task): Promise<DeviceLayout> {
  return Promise.all(
    statisticsOf(task).map(async ({ scheme, spec }) => ({ device: await createDevice(scheme, spec) })),
  );
}
