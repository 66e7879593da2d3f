import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ROLES, random, randomBytes } from "../../test/two-server.ts";
import { secret } from "../encryption/index.ts";
import { splitSharedBits } from "../sharing/shared-bit.ts";
import { deriveWrappingKeys, type HalfBinding, unwrapHalf, WRAPPING_BYTES, wrapReport } from "./wrapping.ts";

const windowSecret = secret(new Uint8Array(32).fill(0xab));
const BINDING = { task: "wrapped", window: 7, device: new Uint8Array(16).fill(1), report: new Uint8Array(16).fill(2) };
const KEYS = {
  leader: await deriveWrappingKeys(windowSecret, { ...BINDING, role: "leader" }),
  helper: await deriveWrappingKeys(windowSecret, { ...BINDING, role: "helper" }),
};
const PUBLIC_KEYS = { leader: KEYS.leader.publicKey, helper: KEYS.helper.publicKey };
const bits = randomBytes(2 * 128);
const halves = splitSharedBits(bits);
const wrapped = await wrapReport(PUBLIC_KEYS, BINDING, bits, random);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe.each(ROLES)("the %s's half", (role) => {
  it("comes back as it went, and grows by what is said", async () => {
    expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, wrapped[role])).toEqual(halves[role]);
    expect(wrapped[role].length).toBe(halves[role].length + WRAPPING_BYTES);
    for (const count of [0, 1, 9]) {
      const more = await wrapReport(PUBLIC_KEYS, BINDING, new Uint8Array(count * 128), random);
      expect(more[role].length).toBe((count * halves[role].length) / 2 + WRAPPING_BYTES);
    }
  });

  it("is nothing if any byte of it is changed, left out or added", async () => {
    for (let at = 0; at < wrapped[role].length; at++) {
      // The top bit of an X25519 key is not looked at by itself (RFC 7748, §5), but bound by the key schedule.
      for (const change of at === 31 ? [1, 0x80] : [1 << (at & 7)]) {
        const altered = wrapped[role].with(at, (wrapped[role][at] as number) ^ change);
        expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, altered)).toBeUndefined();
      }
    }
    for (const bytes of [
      wrapped[role].subarray(1),
      wrapped[role].subarray(0, -1),
      Uint8Array.of(...wrapped[role], 0),
    ]) {
      expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, bytes)).toBeUndefined();
    }
    for (const length of [0, 1, WRAPPING_BYTES - 1, WRAPPING_BYTES]) {
      expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, wrapped[role].subarray(0, length))).toBeUndefined();
    }
  });

  it("is nothing if it is said to belong to anything else, were it with the same keys", async () => {
    const other = role === "leader" ? "helper" : "leader";
    const changes: Partial<HalfBinding>[] = [
      { task: "wrappee" },
      { task: "wrapped7", window: 7 },
      { window: 8 },
      { window: 70 },
      { role: other },
      ...Array.from({ length: 16 }, (_, i) => ({ device: BINDING.device.with(i, 9) })),
      ...Array.from({ length: 16 }, (_, i) => ({ report: BINDING.report.with(i, 9) })),
      { device: BINDING.report, report: BINDING.device },
      // The same bytes in a row, divided elsewhere.
      { device: BINDING.device.subarray(1), report: Uint8Array.of(1, ...BINDING.report) },
      { task: "wrapped7", window: 0 },
    ];
    for (const change of changes) {
      expect(await unwrapHalf(KEYS[role], { ...BINDING, role, ...change }, wrapped[role])).toBeUndefined();
    }
    expect(await unwrapHalf(KEYS[other], { ...BINDING, role }, wrapped[role])).toBeUndefined();
    expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, wrapped[other])).toBeUndefined();
  });

  it("is wrapped differently every time, and shows nothing of what is in it", async () => {
    const again = (await wrapReport(PUBLIC_KEYS, BINDING, bits, random))[role];
    expect(hex(again.subarray(0, 32))).not.toBe(hex(wrapped[role].subarray(0, 32)));
    for (let at = 32; at + 16 <= again.length; at += 16) {
      expect(hex(again.subarray(at, at + 16))).not.toBe(hex(wrapped[role].subarray(at, at + 16)));
      expect(hex(halves[role])).not.toContain(hex(again.subarray(at, at + 16)));
    }
  });

  it("may lie anywhere in a larger array", async () => {
    const larger = new Uint8Array(wrapped[role].length + 10);
    larger.set(wrapped[role], 5);
    expect(await unwrapHalf(KEYS[role], { ...BINDING, role }, larger.subarray(5, -5))).toEqual(halves[role]);
  });
});

describe("a server's keys", () => {
  it("are the same for the same secret, task, window and role, and others otherwise", async () => {
    const context = { task: "wrapped", window: 7, role: "leader" } as const;
    const publicKeys = await Promise.all([
      deriveWrappingKeys(windowSecret, context),
      deriveWrappingKeys(secret(new Uint8Array(32).fill(0xac)), context),
      deriveWrappingKeys(windowSecret, { ...context, task: "wrapped7" }),
      deriveWrappingKeys(windowSecret, { ...context, task: "wrappe" }),
      deriveWrappingKeys(windowSecret, { ...context, window: 8 }),
      deriveWrappingKeys(windowSecret, { ...context, window: 77 }),
      deriveWrappingKeys(windowSecret, { ...context, role: "helper" }),
    ]).then((keys) => keys.map(({ publicKey }) => hex(publicKey)));
    expect(new Set(publicKeys).size).toBe(7);
    expect(publicKeys[0]).toBe(hex(KEYS.leader.publicKey));
    const again = await deriveWrappingKeys(windowSecret, context);
    expect(await unwrapHalf(again, { ...BINDING, role: "leader" }, wrapped.leader)).toEqual(halves.leader);
  });

  it("do not show their private half, however they are printed", () => {
    const thorough = { showHidden: true, depth: 9, customInspect: false };
    for (const { publicKey, privateKey } of [KEYS.leader, KEYS.helper]) {
      expect(JSON.stringify({ privateKey })).toBe('{"privateKey":"[secret]"}');
      expect(inspect({ publicKey, privateKey })).toContain("privateKey: [secret]");
      expect(`${privateKey}`).toBe("[secret]");
      expect(inspect({ privateKey }, thorough)).not.toMatch(/CryptoKey|Handle|private:/);
      expect(Object.values(privateKey).some((value) => typeof value !== "function")).toBe(false);
    }
  });

  it("leave the window's secret as it was", () => {
    expect(windowSecret.reveal()).toEqual(new Uint8Array(32).fill(0xab));
  });
});

it("a wrapping key of the wrong length is refused", async () => {
  const short = { ...PUBLIC_KEYS, helper: PUBLIC_KEYS.helper.subarray(1) };
  await expect(wrapReport(short, BINDING, bits, random)).rejects.toThrow("a wrapping key has 31 bytes");
});

it("a wrapping key that leads to no shared secret is refused, and nothing is wrapped", async () => {
  const zero = { ...PUBLIC_KEYS, leader: new Uint8Array(32) };
  await expect(wrapReport(zero, BINDING, bits, random)).rejects.toThrow();
});
