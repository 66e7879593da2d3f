import { describe, expect, it } from "vitest";
import { type Observation, observe } from "./observation.ts";

describe("looks at both stores", () => {
  it("have what changed since the look before, newest first", () => {
    const look = (bytes: number[], writes: number) => ({ bytes: Uint8Array.from(bytes), writes });
    const one = observe([], 0, look([1, 2], 1), look([5], 0));
    const [second, first] = observe(one, 3, look([1, 3], 2), look([5], 0));
    expect(first).toEqual({ number: 1, recorded: 0, device: look([1, 2], 1), counter: look([5], 0) });
    expect(second).toEqual({
      ...{ number: 2, recorded: 3 },
      device: { ...look([1, 3], 2), before: Uint8Array.of(1, 2), changed: 0.5 },
      counter: { ...look([5], 0), before: Uint8Array.of(5), changed: 0 },
    });
  });

  it("are not kept for ever", () => {
    let all: readonly Observation[] = [];
    const look = { bytes: new Uint8Array(4), writes: 1 };
    for (let i = 0; i < 20; i++) all = observe(all, 0, look, look);
    expect([all.length, all[0]?.number]).toEqual([8, 20]);
  });
});
