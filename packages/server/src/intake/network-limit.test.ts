import fc from "fast-check";
import { expect, it } from "vitest";
import type { WindowIdentity } from "../storage/windows.ts";
import { createNetworkLimit, type NetworkLimit } from "./network-limit.ts";

const window = (id: number): WindowIdentity => ({
  id,
  name: "task",
  number: id,
  commitment: new Uint8Array(32),
  others: "",
});
const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

function passes({ count }: NetworkLimit, id: number, from: string): boolean {
  try {
    count(window(id), from);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "rate-limited" });
    return false;
  }
}

it("a network enrols a limited number of devices in a window, and each window and network has its own count", () => {
  const limit = createNetworkLimit(2);
  expect([1, 2, 3].map(() => passes(limit, 1, "192.0.2.1"))).toEqual([true, true, false]);
  expect([passes(limit, 2, "192.0.2.1"), passes(limit, 1, "192.0.2.2")]).toEqual([true, true]);
  expect(["::1", "::2", "::3"].map((end) => passes(limit, 1, `2001:db8:1:2${end}`))).toEqual([true, true, false]);
});

it("a device that was not enrolled after all is taken back", () => {
  const limit = createNetworkLimit(1);
  const takeBack = limit.count(window(1), "192.0.2.1");
  expect(passes(limit, 1, "192.0.2.1")).toBe(false);
  takeBack();
  expect([passes(limit, 1, "192.0.2.1"), passes(limit, 1, "192.0.2.1")]).toEqual([true, false]);
});

it("counts go with their window, and what is taken back later changes nothing", () => {
  const limit = createNetworkLimit(1);
  const takeBack = limit.count(window(1), "192.0.2.1");
  expect(passes(limit, 2, "192.0.2.1")).toBe(true);
  limit.keepOnly(({ id }) => id === 2);
  expect([passes(limit, 1, "192.0.2.1"), passes(limit, 2, "192.0.2.1")]).toEqual([true, false]);
  takeBack();
  expect(passes(limit, 1, "192.0.2.1")).toBe(false);
});

it("however small the table, no network ever has more devices than the limit", () => {
  const step = fc.record({ id: fc.integer({ min: 1, max: 2 }), from: fc.nat(40), isTakenBack: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.nat(20), fc.integer({ min: 1, max: 4 }), (steps, most, each) => {
      const limit = createNetworkLimit(each, most);
      const enrolled = new Map<string, number>();
      for (const { id, from, isTakenBack } of steps) {
        const name = `${id} ${from}`;
        try {
          const takeBack = limit.count(window(id), address(from));
          if (isTakenBack) takeBack();
          else enrolled.set(name, (enrolled.get(name) ?? 0) + 1);
        } catch {
          // More are refused than without a limit on the table, never fewer.
        }
        expect(enrolled.get(name) ?? 0).toBeLessThanOrEqual(each);
      }
    }),
  );
});

it("a crowd of networks fills the table and no more: the others share counts, and still enrol", () => {
  const limit = createNetworkLimit(100, 1000);
  // 300,000 in 65,536 shared counts are 5 each; a hundred in one would take a chance below 1e-90.
  for (let i = 0; i < 300_000; i++) expect(passes(limit, 1, address(i))).toBe(true);
  for (let i = 0; i < 99; i++) expect(passes(limit, 1, address(5))).toBe(true);
  expect(passes(limit, 1, address(5))).toBe(false);
});
