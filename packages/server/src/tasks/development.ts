import type { Task } from "@lethe/core/message";

/** The longest a window lasts in development, and how long reports are then waited for. */
const TICKS = 10;
const GRACE_SECONDS = 5;
const MINIMUM_DEVICES = 10;

/**
 * The same task in windows of seconds, released for a handful of devices: for trying things out, never for people's
 * data.
 */
export function shortened(task: Task): Task {
  return {
    ...task,
    tickSeconds: 1,
    ticks: Math.min(task.ticks, TICKS),
    graceSeconds: Math.min(task.graceSeconds, GRACE_SECONDS),
    minimumDevices: Math.min(task.minimumDevices, MINIMUM_DEVICES),
  };
}

/** A task as a service runs it. */
export function asRun(task: Task, isDevelopment: boolean): Task {
  return isDevelopment ? shortened(task) : task;
}
