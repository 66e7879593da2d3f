import { expect, it } from "vitest";
import { addReport } from "./outbox.ts";
import type { WriterState } from "./state.ts";
import type { DeviceWindow } from "./window.ts";

const DAY = 86_400;
const ENDS = 1_700_000_000_000;

/** When the report of a device is planned to be sent, in hours after the end of its window. */
function plannedFor(device: Uint8Array, times: { graceSeconds: number; ticks: number }): number {
  const window = {
    number: 1,
    ends: ENDS,
    known: { manifest: { tickSeconds: 300, ...times } },
    stored: () => ({ device }),
  } as unknown as DeviceWindow;
  const state = { uploads: new Map() } as unknown as WriterState;
  addReport(state, window);
  return ((state.uploads.get(window)?.at ?? Number.NaN) - ENDS) / 3_600_000;
}

it("devices spread their reports evenly over 0.6 of the grace time, or of the window if that is shorter", () => {
  for (const [times, hours] of [
    [{ graceSeconds: DAY, ticks: 288 }, 14.4],
    [{ graceSeconds: 7 * DAY, ticks: 288 }, 14.4],
    [{ graceSeconds: DAY / 4, ticks: 288 }, 3.6],
    [{ graceSeconds: 0, ticks: 288 }, 0],
  ] as const) {
    const planned = Array.from({ length: 1024 }, (_, i) => {
      const device = crypto.getRandomValues(new Uint8Array(16));
      device.set([i >> 2, (i & 3) << 6]);
      return plannedFor(device, times);
    });
    // Ids that are spread evenly give moments that are.
    for (const [i, moment] of planned.entries()) expect(moment).toBeCloseTo((hours * i) / 1024, 6);
  }
});

it("the moment is the same after a restart, whatever the time is then", () => {
  const device = crypto.getRandomValues(new Uint8Array(16));
  const times = { graceSeconds: DAY, ticks: 288 };
  expect(plannedFor(device, times)).toBe(plannedFor(device.slice(), times));
});
