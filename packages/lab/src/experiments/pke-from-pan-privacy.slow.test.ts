import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { type PkeResult, pkeFromPanPrivacy } from "./pke-from-pan-privacy.ts";

it("at its full size the message comes out but with probability 1e-9, over both of Lethe's schemes, for the owner of the key", async () => {
  const random = randomnessFrom(globalThis.crypto);
  const { json } = await pkeFromPanPrivacy.run({ random, progress: () => {} });
  const { messageRecovered, bitErrors, bits, counters, smallSpace } = json as PkeResult;
  expect({ messageRecovered, bitErrors, bits }).toEqual({ messageRecovered: true, bitErrors: 0, bits: 80 });
  for (const sent of [...counters, smallSpace.transmission]) {
    expect(sent.messageRecovered).toBe(true);
    expect(sent.bound).toBeLessThanOrEqual(1e-9);
  }
  expect(counters.map(({ withoutKey }) => withoutKey.advantage)).toEqual([0, 0]);
  expect(smallSpace.transmission.withoutKey.advantage).toBe(1);
});
