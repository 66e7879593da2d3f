import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { expect, onTestFinished } from "vitest";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, openLethe } from "../dist/index.js";
import { fileStore } from "../dist/node/index.js";

const TASK: Task = { ...EXACT_TASK, tickSeconds: 7200, graceSeconds: 7200, minimumDevices: 1 };
const WINDOW_SECONDS = TASK.ticks * TASK.tickSeconds;

/** A device whose store is in files, at a service in this process; a test moves the clock of both. */
export interface CountingDevice {
  readonly service: TestService;
  readonly lethe: Lethe;
  readonly problems: LetheError[];
  readonly operatorKey: string;
  /** The number of the running window. */
  window(): number;
  /** Asks for what is due until it counts in the running window. */
  untilCounting(): Promise<void>;
  toNextTick(): void;
  toNextWindow(): void;
  /** From now on the device's clock is this far from the service's. */
  setWrong(seconds: number): void;
  /** How many devices enrolled in a window, and how many reports came. */
  status(window: number): Promise<{ readonly enrolled: number; readonly received: number }>;
  /** The program ends, and starts again on the same folder. */
  restart(): Promise<void>;
}

/** `onSend` is called with every report before its first byte leaves, `onSent` when the service has answered. */
export async function openCountingDevice(
  folder: string,
  { onSend, onSent }: { readonly onSend?: (body: Uint8Array) => void; readonly onSent?: () => void } = {},
): Promise<CountingDevice> {
  const service = await startTestService();
  onTestFinished(() => service.remove());
  expect((await asAdmin(service, "/v1/tasks", TASK)).status).toBe(201);
  const problems: LetheError[] = [];
  let wrong = 0;
  const open = (): Promise<Lethe> =>
    openLethe({
      server: service.url,
      task: TASK.task,
      operatorKey: service.operatorKey,
      clock: () => service.clock() + 1000 * wrong,
      store: fileStore(folder),
      onProblem: (problem) => problems.push(problem),
      fetch: async (url, init) => {
        if (init?.method !== "PUT") return fetch(url, init);
        onSend?.(new Uint8Array(init.body as Uint8Array));
        const response = await fetch(url, init);
        onSent?.();
        return response;
      },
    });
  let lethe = await open();
  onTestFinished(() => lethe.close());
  const advance = (unit: number): void => service.clock.advance(unit - ((service.clock() / 1000) % unit));
  return {
    service,
    problems,
    operatorKey: service.operatorKey,
    get lethe() {
      return lethe;
    },
    window: () => Math.floor(service.clock() / 1000 / WINDOW_SECONDS),
    untilCounting: async () => {
      for (let i = 0; i < 5000 && lethe.inspect().memory.length === 0; i++) {
        service.clock.advance(1);
        await lethe.sendPending();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(lethe.inspect().memory.length).toBeGreaterThan(0);
    },
    toNextTick: () => advance(TASK.tickSeconds),
    toNextWindow: () => advance(WINDOW_SECONDS),
    setWrong: (seconds) => {
      wrong = seconds;
    },
    status: async (window) => {
      const response = await fetch(`${service.url}/v1/tasks/${TASK.task}/windows/${window}`);
      return (await response.json()) as { enrolled: number; received: number };
    },
    restart: async () => {
      await lethe.close();
      lethe = await open();
    },
  };
}
