import { describe, expect, it } from "vitest";
import { keysOf, multiple, openedBy } from "../../test/shared-slots.ts";
import { deviceNumber, ROLES, random, randomBytes } from "../../test/two-server.ts";
import { join } from "../bytes.ts";
import { decodePoint, IDENTITY } from "../encryption/elgamal/ristretto.ts";
import type { Randomness } from "../randomness/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { type SharedSlot, sharedSlots, splitSharedSlots } from "./shared-slot.ts";

const device = deviceNumber(3);
const keys = keysOf(device);
const encrypt = (bit: number): SharedSlot => sharedSlots.encrypt(keys, bit, random);

/** What both servers together find in slots, as elements of the group. */
function valuesIn(...slots: readonly SharedSlot[]): string[] {
  const bytes = join(slots.map(sharedSlots.encode));
  const [leader, helper] = ROLES.map((role) => openedBy(role, device, bytes)) as [Opened, Opened];
  return leader.map(({ element, intact }, i) => {
    expect([intact, helper[i]?.intact]).toEqual([true, true]);
    return decodePoint(element)
      .add(decodePoint(helper[i]?.element as Uint8Array))
      .toHex();
  });
}
type Opened = ReturnType<typeof openedBy>;
const value = (m: bigint): string => multiple(m).toHex();

describe("a slot shared in the exponent", () => {
  it("holds its bit after any number of rerandomizations, and sums hold sums", () => {
    let [zero, one] = [encrypt(0), encrypt(1)];
    for (let i = 0; i < 3; i++)
      [zero, one] = [zero, one].map((slot) => sharedSlots.rerandomize(keys, slot, random)) as [SharedSlot, SharedSlot];
    const sum = sharedSlots.add(one, sharedSlots.add(zero, encrypt(1)));
    expect(valuesIn(zero, one, sum, sharedSlots.rerandomize(keys, sum, random))).toEqual([0n, 1n, 2n, 2n].map(value));
  });

  it("gets new shares whenever it is rerandomized: each server opens another element every time", () => {
    let slot = encrypt(1);
    const versions = Array.from({ length: 10 }, () => {
      slot = sharedSlots.rerandomize(keys, slot, random);
      return slot;
    });
    const bytes = join(versions.map(sharedSlots.encode));
    for (const role of ROLES) {
      const opened = openedBy(role, device, bytes).map(({ element }) => element.join());
      expect(new Set(opened).size).toBe(versions.length);
    }
  });

  it("is the same to either server whatever it holds: exactly one draw of the sharing gives each view", () => {
    // The same r and s, and for the helper's view a share that is larger by the bit: all that a server opens is equal.
    const [r, s, w] = [randomBytes(64), randomBytes(64), randomBytes(64)];
    // 64 big-endian bytes, of which the last is raised by one.
    const drawing = (last: number): Randomness => {
      const left = [r, s, w.with(63, last)];
      return (into) => into.set(left.shift() as Uint8Array);
    };
    const viewOf = (slot: SharedSlot, role: "leader" | "helper"): string =>
      [...splitSharedSlots(sharedSlots.encode(slot))[role]].join();
    const zero = sharedSlots.encrypt(keys, 0, drawing(7));
    const one = sharedSlots.encrypt(keys, 1, drawing(7));
    expect(viewOf(one, "leader")).toBe(viewOf(zero, "leader"));
    expect(viewOf(sharedSlots.encrypt(keys, 1, drawing(8)), "helper")).toBe(viewOf(zero, "helper"));
    // Whatever was there before: slots with the same share at the leader come out with the same share.
    const again = [zero, one].map((slot) => sharedSlots.rerandomize(keys, slot, seededRandomnessForTests("same")));
    expect(viewOf(again[1] as SharedSlot, "leader")).toBe(viewOf(again[0] as SharedSlot, "leader"));
    expect(viewOf(again[1] as SharedSlot, "helper")).not.toBe(viewOf(again[0] as SharedSlot, "helper"));
  });

  it("shows nothing to a leader who made its key from the helper's: its elements do not add up to the slot", () => {
    // With one r for both keys, A = k·G − B would make the masked elements add up to x·G + k·r·G.
    const k = multiple(9n);
    const rogue = { leader: { point: k.subtract(keys.helper.point) }, helper: keys.helper };
    const { leader, helper } = sharedSlots.encrypt(rogue, 1, random);
    for (const ephemeral of [leader.ephemeral, helper.ephemeral]) {
      const sum = leader.masked.add(helper.masked).subtract(ephemeral.multiply(9n));
      expect([value(0n), value(1n)]).not.toContain(sum.toHex());
    }
  });

  it("is read back as it was written, and nothing else is read", () => {
    const slot = encrypt(1);
    const bytes = sharedSlots.encode(slot);
    expect(bytes.length).toBe(sharedSlots.ciphertextBytes);
    expect(sharedSlots.encode(sharedSlots.decode(bytes))).toEqual(bytes);
    const refused = expect.objectContaining({ code: "bad-encoding" });
    for (const length of [0, 127, 129]) expect(() => sharedSlots.decode(new Uint8Array(length))).toThrow(refused);
    for (const at of [0, 32, 64, 96]) {
      const bad = bytes.slice();
      bad.fill(255, at, at + 32);
      expect(() => sharedSlots.decode(bad)).toThrow(refused);
    }
    expect(() => splitSharedSlots(bytes.subarray(1))).toThrow(refused);
  });

  it("takes bits only, and keys that are no identity", () => {
    for (const other of [-1, 2, 0.5, Number.NaN]) expect(() => encrypt(other)).toThrow(RangeError);
    expect(() => sharedSlots.decodePublicKey(new Uint8Array(96))).toThrow("the identity is not a public key");
    expect(() => sharedSlots.decodePublicKey(new Uint8Array(64))).toThrow(
      expect.objectContaining({ code: "bad-encoding" }),
    );
  });

  it("that was not encrypted is not intact at either server", () => {
    const bytes = join([IDENTITY, multiple(1n), IDENTITY, multiple(2n)].map((point) => point.toBytes()));
    for (const role of ROLES) expect(openedBy(role, device, bytes)[0]?.intact).toBe(false);
  });
});
