import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { Recorder } from "@lethe/core/statistic";
import { bytesFrom } from "../randomness/bytes-from.ts";
import { oneServer } from "../simulate/servers.ts";

/**
 * Windows of real Lethe devices. The slots of a ledger are independent counters with independent coins, so a fleet of a
 * few devices with a thousand metrics is a thousand independent fleets that count one event each.
 */
export interface LedgerFleets {
  readonly ticks: number;
  readonly devices: number;
  readonly metrics: number;
  readonly fleets: number;
  readonly localEpsilon: number;
}

/** What came out of all fleets. */
export interface LedgerResult {
  /** Estimate − truth, for every fleet and metric. */
  readonly errors: readonly number[];
  /** The ε that a device's answer attains. */
  readonly localEpsilon: number;
}

/** The event happens on one device in this many, once, at a tick that is drawn for each device. */
export const ONE_IN = 10;

/** Runs all fleets, one after another; `step` is called after each device. */
export async function runLedgers(size: LedgerFleets, random: Randomness, step: () => void): Promise<LedgerResult> {
  const { ticks, devices, metrics, localEpsilon } = size;
  const errors: number[] = [];
  let attained = 0;
  for (let fleet = 0; fleet < size.fleets; fleet++) {
    const localEpsilons = new Array<number>(metrics).fill(localEpsilon);
    const server = oneServer("lattice", { statistic: "occurrence", ticks, hides: 0, localEpsilons }, random);
    const truth = new Array<number>(metrics).fill(0);
    for (let i = 0; i < devices; i++) {
      const id = bytesFrom(random, 16);
      const recorder = server.enrol(id);
      const happens = truth.map((_, metric) => (i + metric) % ONE_IN === 0);
      const sealed = recorder.seal(liveThrough(recorder, ticks, happens, random));
      if (!(await server.receive(id, await server.send(id, sealed)))) throw new Error("an honest report was invalid");
      for (const [metric, event] of happens.entries()) truth[metric] = (truth[metric] as number) + Number(event);
      step();
    }
    const estimates = server.estimates.estimate(server.sums(), devices);
    errors.push(...estimates.map(({ estimate }, metric) => estimate - (truth[metric] as number)));
    attained = server.estimates.localEpsilon();
  }
  return { errors, localEpsilon: attained };
}

/** A write in every tick, and each event at a random tick; returns what is stored at the end. */
function liveThrough(recorder: Recorder, ticks: number, happens: readonly boolean[], random: Randomness): Uint8Array {
  const at = happens.map((event) => (event ? uniformBelow(random, ticks) : undefined));
  let stored: Uint8Array | undefined;
  for (let tick = 0; tick < ticks; tick++) {
    for (const [metric, eventTick] of at.entries()) if (eventTick === tick) recorder.record(metric);
    stored = recorder.write();
  }
  return stored as Uint8Array;
}
