import fc from "fast-check";
import { pino } from "pino";
import { expect, it } from "vitest";
import { Unavailable } from "../storage/database.ts";
import { createRoom, type Room } from "./room.ts";

const silent = pino({ level: "silent" });

/** Lets requests of a task in until one is refused; the functions that let them out. */
function fill(room: Room, task: string, bytes = 0): (() => void)[] {
  const inside: (() => void)[] = [];
  for (;;) {
    try {
      inside.push(room.enter(task, bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(Unavailable);
      return inside;
    }
  }
}

it("one task gets two thirds of the room, and there is always some for another", () => {
  const room = createRoom(silent, { requests: 900, bytes: 1e9 });
  expect(fill(room, "first")).toHaveLength(600);
  expect(fill(room, "second")).toHaveLength(200);
  expect(fill(room, "third").length).toBeGreaterThan(60);
});

it("the room for bodies is limited as well, and one that is longer than all of it gets in alone", () => {
  const room = createRoom(silent, { requests: 1e9, bytes: 900 });
  const [leave, ...others] = fill(room, "first", 5000);
  expect(others).toEqual([]);
  leave?.();
  expect(fill(room, "first", 1)).toHaveLength(600);
});

it("floods that come and go share the room alike in the end", () => {
  const room = createRoom(silent, { requests: 1000, bytes: 1e9 });
  const first = fill(room, "first");
  const second = fill(room, "second");
  expect(first.length).toBeGreaterThan(2 * second.length);
  // Requests of both are answered, and both ask again at once.
  for (let i = 0; i < 3000; i++) {
    for (const [task, inside] of [
      ["first", first],
      ["second", second],
    ] as const) {
      inside.shift()?.();
      try {
        inside.push(room.enter(task, 0));
      } catch {
        // Refused: it comes back later.
      }
      if (inside.length < 500) inside.push(...fill(room, task));
    }
  }
  expect(first.length / second.length).toBeGreaterThan(0.8);
  expect(first.length / second.length).toBeLessThan(1.25);
});

it("whatever comes and goes, the room never holds more than its limit, and is empty in the end", () => {
  const most = { requests: 40, bytes: 1000 };
  const requests = fc.array(fc.record({ task: fc.constantFrom("a", "b", "c"), bytes: fc.nat(100), leaves: fc.nat() }));
  fc.assert(
    fc.property(requests, (steps) => {
      const room = createRoom(silent, most);
      let inside: { bytes: number; leave: () => void }[] = [];
      for (const { task, bytes, leaves } of steps) {
        const leaving = inside[leaves % (2 * inside.length + 1)];
        leaving?.leave();
        // A second call changes nothing.
        leaving?.leave();
        inside = inside.filter((request) => request !== leaving);
        try {
          inside.push({ bytes, leave: room.enter(task, bytes) });
        } catch {
          // Refused.
        }
        expect(inside.length).toBeLessThanOrEqual(most.requests);
        expect(inside.reduce((sum, each) => sum + each.bytes, 0)).toBeLessThan(most.bytes + 100);
      }
      for (const { leave } of inside) leave();
      expect(fill(room, "d")).toHaveLength(27);
    }),
  );
});
