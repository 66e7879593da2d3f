import { setTimeout as sleep } from "node:timers/promises";
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import { expect } from "vitest";
import { allOf } from "../dist/async/all-of.js";
import { type KnownTask, upload } from "./device.ts";
import { makeReport, type Sent } from "./recount.ts";
import { type ServiceProcess, unlessGone } from "./service-process.ts";

const DEVICES_AT_ONCE = 8;
const RETRY_MS = 20;
/** Longer than any outage: who is not answered by then never will be. */
const MOST_PATIENCE_MS = 300_000;

/** Devices that enrol and report all the time, wherever they are answered. */
export interface DeviceLoad {
  readonly sent: readonly Sent[];
  readonly counts: Readonly<LoadCounts>;
  /** The longest time, in milliseconds, in which no report was acknowledged, since this was last asked. */
  longestSilence(): number;
  /** Resolves when every report that was begun is acknowledged, or rejects with what was found. */
  stop(): Promise<void>;
}

interface LoadCounts {
  acknowledged: number;
  /** Requests whose answer a kill took away, or that found nobody. */
  unanswered: number;
  /** Answers of 503. */
  unavailable: number;
  /** Reports sent again although they were acknowledged. */
  resends: number;
}

/** How a load is made. */
interface LoadOptions {
  /** How long a device waits before it sends the next report. */
  readonly pauseMs?: number;
}

/** A third of all reports go to two intakes at once, and about half of what is sent was sent before. */
export function startDeviceLoad(
  intakes: readonly { readonly service: ServiceProcess }[],
  task: KnownTask,
  window: number,
  random: Randomness,
  { pauseMs = 0 }: LoadOptions = {},
): DeviceLoad {
  const sent: Sent[] = [];
  const counts: LoadCounts = { acknowledged: 0, unanswered: 0, unavailable: 0, resends: 0 };
  const created = new Set<Sent>();
  let stopping = false;
  let lastAcknowledged = performance.now();
  let longestSilence = 0;

  const intakeAt = (place: number): ServiceProcess => (intakes[place % intakes.length] as (typeof intakes)[0]).service;

  /** Goes on at the next intake while nobody answers, or the database does not answer them. */
  async function insist<T>(ask: (intake: ServiceProcess) => Promise<T | undefined>, first: number): Promise<T> {
    const deadline = Date.now() + MOST_PATIENCE_MS;
    for (let place = first; Date.now() < deadline; place++) {
      const left = AbortSignal.timeout(deadline - Date.now());
      const answer = await Promise.race([ask(intakeAt(place)), whenAborted(left)]);
      if (answer !== undefined) return answer;
      await sleep(RETRY_MS);
    }
    throw new Error("no intake served a device for five minutes");
  }

  const uploadOnce =
    (next: Sent) =>
    async (intake: ServiceProcess): Promise<number | undefined> => {
      const response = await upload(intake, next.device, next.report).catch(unlessGone);
      if (!response) counts.unanswered++;
      if (!response || response.status === 200 || response.status === 201) return response?.status;
      const answer = await response.text().catch(unlessGone);
      if (response.status !== 503) throw new Error(`${intake.url} refuses ${nameOf(next)}: ${answer}`);
      counts.unavailable++;
      return undefined;
    };

  async function deliver(next: Sent, intake: number): Promise<void> {
    const wasAcknowledged = next.acknowledged;
    const status = await insist(uploadOnce(next), intake);
    expect(wasAcknowledged ? [200] : [200, 201]).toContain(status);
    // Stored once: nobody hears of it twice.
    if (status === 201) expect(created.has(next)).toBe(false);
    if (status === 201) created.add(next);
    next.acknowledged = true;
    counts.acknowledged++;
    longestSilence = Math.max(longestSilence, performance.now() - lastAcknowledged);
    lastAcknowledged = performance.now();
  }

  async function work(): Promise<void> {
    while (!stopping) {
      const again = sent[uniformBelow(random, 2 * sent.length + 1)];
      const intake = uniformBelow(random, intakes.length);
      const next =
        again ?? (await insist((service) => makeReport(service, task, window, random).catch(unlessGone), intake));
      if (!again) sent.push(next);
      else if (again.acknowledged) counts.resends++;
      const places = uniformBelow(random, 3) === 0 ? [intake, intake + 1] : [intake];
      await allOf(places.map((place) => deliver(next, place)));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const done = allOf(Array.from({ length: DEVICES_AT_ONCE }, work));
  // Told by `stop`.
  done.catch(() => undefined);
  return {
    sent,
    counts,
    longestSilence: () => {
      const longest = Math.max(longestSilence, performance.now() - lastAcknowledged);
      longestSilence = 0;
      return longest;
    },
    stop: async () => {
      stopping = true;
      await done;
    },
  };
}

/** For messages: the device, and whether its report was acknowledged before. */
function nameOf({ device, acknowledged }: Sent): string {
  return `the ${acknowledged ? "acknowledged " : ""}report of ${Buffer.from(device.id).toString("hex")}`;
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
}
