import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { refusal } from "../../test/refusal.ts";
import { type KeyRole, secret } from "../encryption/index.ts";
import {
  decodePublicKeys,
  encodeBase64url,
  encodeEnrolment,
  encodePublicKeys,
  keyContextOf,
  layoutOf,
  type PublicKeysBinding,
  parseEnrolment,
  parseTask,
  publicKeysBytes,
  publicKeysSigningBytes,
  type TaskLayout,
} from "./index.ts";

/** The same histogram and the same mean twice: only their places tell them apart. */
const taskOf = (scheme: "lattice" | "elgamal") =>
  parseTask(
    JSON.stringify({
      version: 1,
      task: "editor-health",
      tickSeconds: 60,
      ticks: 2,
      hides: 2,
      graceSeconds: 0,
      mode: "one-server",
      scheme,
      minimumDevices: 1,
      metrics: [
        { name: "clicks", statistic: "histogram", edges: [0, 1], localEpsilon: 1, eventsPerTick: 1 },
        { name: "failed", statistic: "occurrence", localEpsilon: 1 },
        { name: "drags", statistic: "histogram", edges: [0, 1], localEpsilon: 1, eventsPerTick: 1 },
        { name: "tabs", statistic: "mean", limit: 2, sigma: 1, eventsPerTick: 1 },
        { name: "panes", statistic: "mean", limit: 2, sigma: 1, eventsPerTick: 1 },
      ],
    }),
  );
const master = secret(new Uint8Array(32).fill(1));
const device = Uint8Array.from({ length: 16 }, (_, i) => i);
const context = { task: "editor-health", window: 7, device, role: "tally" } as const;

describe.each(["elgamal", "lattice"] as const)("the public keys of a device, %s", (scheme) => {
  let layout: TaskLayout;
  let keys: Uint8Array[];
  let encoded: Uint8Array;
  beforeAll(() => {
    layout = layoutOf(taskOf(scheme));
    keys = layout.map((part) => part.server.issueKey(master, keyContextOf(part, context)));
    encoded = encodePublicKeys(keys);
  });

  it("are laid out occurrences first, then in the task's order, 65,536 indices apart", () => {
    expect(layout.map(({ metrics, firstKey }) => [metrics, firstKey])).toStrictEqual([
      [["failed"], 0],
      [["clicks"], 65_536],
      [["drags"], 131_072],
      [["tabs"], 196_608],
      [["panes"], 262_144],
    ]);
    expect(layout.map((part) => keyContextOf(part, context))).toStrictEqual(
      layout.map(({ firstKey }) => ({ ...context, index: firstKey })),
    );
  });

  it("are never the same for two statistics, though these ask the same", () => {
    expect({ ...layout[1]?.spec, event: "drags" }).toStrictEqual(layout[2]?.spec);
    expect(new Set(keys.map(bytesToHex)).size).toBe(5);
  });

  it("are the same again when issued again, and others in every other context", () => {
    const issued = (changes: object) =>
      bytesToHex(
        encodePublicKeys(
          layout.map((part) => part.server.issueKey(master, keyContextOf(part, { ...context, ...changes }))),
        ),
      );
    expect(issued({})).toBe(bytesToHex(encoded));
    const others = [
      { task: "editor" },
      { window: 8 },
      { device: device.with(0, 1) },
      { device: device.with(15, 16) },
      { role: "leader" },
    ].map(issued);
    expect(new Set([...others, bytesToHex(encoded)]).size).toBe(6);
  });

  it("follow one another behind version 1 and kind 0x4b, and come apart again", () => {
    expect(encoded.length).toBe(publicKeysBytes(layout));
    expect(bytesToHex(encoded)).toBe(`014b${keys.map(bytesToHex).join("")}`);
    expect(decodePublicKeys(layout, encoded)).toStrictEqual(keys);
  });

  it("are refused with any bit of the header flipped", () => {
    for (let bit = 0; bit < 16; bit++) {
      const flipped = encoded.with(bit >> 3, (encoded[bit >> 3] as number) ^ (1 << (bit & 7)));
      expect(refusal(() => decodePublicKeys(layout, flipped))).toBe(
        "these bytes are not a set of public keys of this version",
      );
    }
  });

  it("are refused at any other length", () => {
    const size = encoded.length;
    fc.assert(
      fc.property(fc.oneof(fc.nat({ max: 2 * size }), fc.constantFrom(0, 1, 2, size - 1, size + 1)), (length) => {
        fc.pre(length !== size);
        const resized = new Uint8Array(length);
        resized.set(encoded.subarray(0, length));
        expect(refusal(() => decodePublicKeys(layout, resized))).toBe(
          `a set of public keys has ${length} bytes instead of ${size}`,
        );
      }),
    );
  });

  it("are read from a view into a larger buffer", () => {
    const buffer = new Uint8Array(encoded.length + 9).fill(255);
    buffer.set(encoded, 5);
    expect(decodePublicKeys(layout, buffer.subarray(5, -4))).toStrictEqual(keys);
  });
});

describe("what a server signs for public keys", () => {
  const binding: PublicKeysBinding = {
    manifestHash: new Uint8Array(32).fill(3),
    window: 12,
    device,
    role: "tally",
    publicKeys: Uint8Array.of(1, 0x4b, 5, 6, 7),
  };
  const signed = (changes: Partial<PublicKeysBinding> = {}) =>
    bytesToHex(publicKeysSigningBytes({ ...binding, ...changes }));
  const flip = (bytes: Uint8Array, bit: number) => {
    const at = (bit >> 3) % bytes.length;
    return bytes.with(at, (bytes[at] as number) ^ (1 << (bit & 7)));
  };

  it("is a label and a hash of 32 bytes, which no manifest begins with", () => {
    expect(signed()).toMatch(new RegExp(`^${Buffer.from("lethe public keys ").toString("hex")}[0-9a-f]{64}$`));
    expect(signed()).toBe(signed());
  });

  it("differs with every bit of every part", () => {
    const role: KeyRole[] = ["leader", "helper"];
    const others = [...role.map((role) => signed({ role })), signed({ window: 13 }), signed({ window: 120 })];
    expect(new Set([...others, signed()]).size).toBe(5);
    fc.assert(
      fc.property(fc.nat({ max: 255 }), (bit) => {
        for (const part of ["manifestHash", "device", "publicKeys"] as const) {
          expect(signed({ [part]: flip(binding[part], bit) })).not.toBe(signed());
        }
      }),
    );
  });

  it("differs when bytes move from one part to the next", () => {
    // "12" and a device, or "1" and a device that begins with "2".
    const moved = Uint8Array.of(0x32, ...device);
    expect(signed({ window: 1, device: moved })).not.toBe(signed());
    const longer = Uint8Array.of(...binding.manifestHash, 0x31);
    expect(signed({ manifestHash: longer, window: 2 })).not.toBe(signed());
    expect(signed({ publicKeys: binding.publicKeys.subarray(1) })).not.toBe(signed());
  });
});

describe("the answer to an enrolment", () => {
  const bytes = (length: number, value: number) => new Uint8Array(length).fill(value);
  const key = { role: "tally", publicKeys: encodeBase64url(bytes(34, 1)), signature: encodeBase64url(bytes(64, 2)) };
  const good = {
    device: encodeBase64url(device),
    uploadToken: encodeBase64url(bytes(32, 3)),
    manifestHash: encodeBase64url(bytes(32, 4)),
    keys: [key],
  };
  const refusalOf = (changes: object) => refusal(() => parseEnrolment(JSON.stringify({ ...good, ...changes })));

  it("is read into bytes, but for the token, which is sent back as it is", () => {
    expect(parseEnrolment(JSON.stringify(good))).toStrictEqual({
      device,
      uploadToken: good.uploadToken,
      manifestHash: bytes(32, 4),
      keys: [{ role: "tally", publicKeys: bytes(34, 1), signature: bytes(64, 2) }],
    });
    expect(encodeEnrolment(parseEnrolment(JSON.stringify(good)))).toBe(JSON.stringify(good));
  });

  it("is refused without any one of its fields, by name", () => {
    for (const field of Object.keys(good)) expect(refusalOf({ [field]: undefined })).toBe(`${field} is missing`);
    for (const field of Object.keys(key)) {
      expect(refusalOf({ keys: [{ ...key, [field]: undefined }] })).toBe(`keys[0].${field} is missing`);
    }
  });

  it("is refused with the name of the field that is wrong", () => {
    for (const [changes, message] of [
      [{ device: good.device.slice(1) }, "device is 16 bytes in base64url"],
      [{ device: encodeBase64url(bytes(17, 0)) }, "device is 16 bytes in base64url"],
      [{ device: `=${good.device.slice(1)}` }, "device is not base64url"],
      [{ device: 1 }, "device is a text, not 1"],
      [{ uploadToken: null }, "uploadToken is a token, not null"],
      [{ manifestHash: encodeBase64url(bytes(31, 0)) }, "manifestHash is 32 bytes in base64url"],
      [{ keys: [] }, "keys is a list of 1 to 2 keys, not of 0"],
      [{ keys: [key, key, key] }, "keys is a list of 1 to 2 keys, not of 3"],
      [{ keys: key }, "keys is a list of 1 to 2 keys, not an object"],
      [{ keys: [key, 1] }, "keys[1] is an object, not 1"],
      [{ keys: [key, key] }, "keys are those of tally, or of leader and helper, not of tally and tally"],
      [{ keys: [{ ...key, role: "leader" }] }, "keys are those of tally, or of leader and helper, not of leader"],
      [{ keys: [{ ...key, role: "intake" }] }, 'keys[0].role is one of tally, leader, helper, not "intake"'],
      [{ keys: [{ ...key, publicKeys: "A" }] }, "keys[0].publicKeys is not base64url"],
      [{ keys: [{ ...key, signature: "AAAA" }] }, "keys[0].signature is 64 bytes in base64url"],
      [{ keys: [{ ...key, kind: 1 }] }, "keys[0].kind is not a field of a key"],
      [{ token: "" }, "token is not a field of an enrolment"],
    ] as const) {
      expect(refusalOf(changes)).toBe(message);
    }
    expect(refusal(() => parseEnrolment("[]"))).toBe("enrolment is an object, not a list");
    expect(refusal(() => parseEnrolment("{"))).toMatch(/^enrolment is not JSON/);
  });
});
