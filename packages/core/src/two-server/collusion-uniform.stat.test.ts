import { describe, expect, it } from "vitest";
import { chiSquareAlarm } from "../../test/chi-square.ts";
import { openedBy, slotsOf } from "../../test/shared-slots.ts";
import { deviceNumber, issueKeys, ROLES, random } from "../../test/two-server.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";

/**
 * The elements that an intruder with one server's keys opens of a device's stored states are uniform, whatever
 * happened. An encoding is a number below 2²⁵⁵ whose lowest bit is 0; its other bits are fair but for about 2⁻¹²⁷, as
 * half of all such numbers encode an element. Every figure alarms falsely once in 10⁸, all together once in 10⁶ runs.
 */
const WRITES = 40;
const statistic = createTwoServerStatistic({
  statistic: "histogram",
  edges: [0, 1, 2],
  noise: "device",
  collusion: "one-server",
  ticks: 1,
  hides: WRITES,
  localEpsilon: 1,
});

/** What a server's keys open of every state of a device, with or without an event before every write but the first. */
function openedOf(role: ServerRole, happens: boolean): Uint8Array[] {
  const device = deviceNumber(Number(happens));
  const recorder = statistic.device(new Uint8Array()).start(issueKeys(device), random);
  return Array.from({ length: WRITES }, (_, i) => {
    if (happens && i > 0) recorder.record();
    const stored = recorder.write({ endsTick: false }) as Uint8Array;
    return openedBy(role, device, slotsOf(stored));
  }).flatMap((opened) => opened.map(({ element }) => element));
}

/** The lowest bit is 0, and so is the highest. */
const FREE_BITS = Array.from({ length: 254 }, (_, i) => i + 1);

const bitOf = (bytes: Uint8Array, bit: number): number => ((bytes[bit >> 3] as number) >> (bit & 7)) & 1;

/** χ² of how often each free bit is 1; and of how often it is equal to that of the element before, `lag` places away. */
function figuresOf(elements: readonly Uint8Array[], lag: number): number {
  const half = (elements.length - lag) / 2;
  return FREE_BITS.reduce((sum, bit) => {
    let ones = 0;
    for (let i = lag; i < elements.length; i++) {
      const other = lag > 0 ? bitOf(elements[i - lag] as Uint8Array, bit) : 0;
      ones += bitOf(elements[i] as Uint8Array, bit) ^ other;
    }
    return sum + (ones - half) ** 2 / (half / 2);
  }, 0);
}

const ALARM = chiSquareAlarm(FREE_BITS.length, 1e-8);

describe.each(ROLES)("what the %s's keys open of stored states", (role) => {
  it.each([true, false])("is uniform, slot by slot and from state to state, with events: %s", (happens) => {
    const elements = openedOf(role, happens);
    expect(elements.length).toBe(3 * WRITES);
    // By itself, against the slot before it, against the same slot in the state before.
    for (const lag of [0, 1, 3]) expect({ lag, high: figuresOf(elements, lag) > ALARM }).toEqual({ lag, high: false });
    expect(new Set(elements.map((element) => element.join())).size).toBe(elements.length);
  });
});

it("the figures see elements that come again, and elements of which one bit leans", () => {
  const elements = openedOf("leader", false);
  const again = elements.map((_, i) => elements[i % 3] as Uint8Array);
  expect(figuresOf(again, 3) > ALARM).toBe(true);
  const leaning = elements.map((element, i) => (i % 4 > 0 ? element.with(5, 0xff) : element));
  expect(figuresOf(leaning, 0) > ALARM).toBe(true);
});
