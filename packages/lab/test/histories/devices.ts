import { createHash } from "node:crypto";
// The same SDK in one file: what it loaded on demand would arrive whenever the disk pleases.
import { type Lethe, type LetheOptions, openLethe } from "@lethe/device/all";
import { createDeviceStore, type DeviceStore } from "./device-store.ts";
import type { Act, DevicePlan } from "./history.ts";
import type { Network } from "./network.ts";
import { PUBLIC_HOST } from "./services.ts";
import type { SimulatedProcess, World } from "./world.ts";

/** What devices of a history share. */
export interface DeviceSurroundings {
  readonly world: World;
  readonly network: Network;
  readonly task: string;
  readonly windowSeconds: number;
  /** What a report costs of a device's budget. */
  readonly reportEpsilon: number;
  readonly keys: Pick<LetheOptions, "operatorKey" | "helperKey">;
  /** Whether what devices record is recorded. */
  readonly hasEvents: boolean;
  readonly isForgetful: boolean;
  readonly writesOnEvents: boolean;
  readonly onProblem: (device: string, code: string, message: string) => void;
  readonly onAct: (what: Act["what"]) => void;
}

/** A device that lives its plan. */
export interface SimulatedDevice {
  readonly name: string;
  /** Everything that can be seen from outside: writes and requests, with times and sizes. */
  readonly trace: readonly string[];
  note(what: string): void;
  /** Events that were recorded while a window counted, as `window event`. */
  readonly recorded: ReadonlySet<string>;
  /** Ends its programs in order. */
  close(): void;
}

interface Program {
  readonly process: SimulatedProcess;
  lethe: Lethe | undefined;
}

/** Begins the life of a device; acts happen when their time comes, counted from now. */
export function createDevice(plan: DevicePlan, around: DeviceSurroundings): SimulatedDevice {
  const { world, network, task, windowSeconds, keys } = around;
  const trace: string[] = [];
  const note = (what: string): void => void trace.push(`${world.now()} ${what}`);
  const store: DeviceStore = createDeviceStore(
    world,
    plan.name,
    (size, isDurable) => note(`writes ${size}${isDurable ? " durably" : ""}`),
    around.isForgetful,
  );
  const programs: (Program | undefined)[] = [];
  const recorded = new Set<string>();
  let skew = 1000 * plan.skew;
  const clock = (): number => world.now() + skew;

  function open(tab: number): void {
    if (programs[tab] && !programs[tab].process.isDead) return;
    const process = world.spawn(tab === 0 ? plan.name : `${plan.name} b`);
    const program: Program = { process, lethe: undefined };
    programs[tab] = program;
    world.later(0, process, async () => {
      program.lethe = await openLethe({
        server: `http://${PUBLIC_HOST}`,
        task,
        ...keys,
        ...(plan.group !== undefined && { group: plan.group }),
        store: store.handle(process),
        clock,
        fetch: network.fetchOf(process),
        ...(plan.reports !== undefined && { budget: { epsilon: plan.reports * around.reportEpsilon, days: 1 } }),
        onProblem: ({ code, message }) => around.onProblem(plan.name, code, message),
      });
    });
  }

  /** Lets a program do something, if it runs. */
  function tell(tab: number, act: (lethe: Lethe) => Promise<void>): void {
    const { process, lethe } = programs[tab] ?? {};
    if (process && lethe) world.later(0, process, () => act(lethe));
  }

  function record(tab: number, event: string, place: number): void {
    const { process, lethe } = programs[tab] ?? {};
    if (!process || !lethe || process.isDead || process.stalledUntil > world.now() || !around.hasEvents) return;
    world.as(process, `event ${place}`, () => {
      if (lethe.inspect().memory.length > 0) recorded.add(`${Math.floor(clock() / 1000 / windowSeconds)} ${event}`);
      lethe.record(event);
      const bytes = store.record();
      if (around.writesOnEvents && bytes) void store.handle(process).save(bytes, { durable: false });
    });
  }

  function act({ what, tab, seconds = 0, event }: Act, place: number): void {
    around.onAct(what);
    const all = programs.filter((program) => program !== undefined);
    if (what === "open") open(tab);
    if (what === "close") closeTab(tab);
    if (what === "crash" && programs[tab]) world.kill(programs[tab].process);
    if (what === "power loss") {
      for (const { process } of all) world.kill(process);
      store.losePower();
    }
    if (what === "sleep") for (const { process } of all) process.stalledUntil = world.now() + 1000 * seconds;
    if (what === "jump") skew += 1000 * seconds;
    if (what === "withdraw") tell(tab, (lethe) => lethe.setConsent(false));
    if (what === "consent") tell(tab, (lethe) => lethe.setConsent(true));
    if (what === "record" && event !== undefined) record(tab, event, place);
  }

  function closeTab(tab: number): void {
    const program = programs[tab];
    tell(tab, async (lethe) => {
      await lethe.close();
      if (program) world.kill(program.process);
    });
  }

  for (const [place, each] of plan.acts.entries()) {
    world.later(1000 * each.at, undefined, () => act(each, place));
  }
  return {
    name: plan.name,
    trace,
    note,
    recorded,
    close: () => {
      for (const tab of programs.keys()) closeTab(tab);
    },
  };
}

/** A short name for a trace. */
export function digestOf(lines: readonly string[]): string {
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}
