import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "../../test/refusal.ts";
import { xof } from "../xof.ts";
import {
  decodeOperatorKey,
  encodeBase64url,
  encodeManifest,
  encodeOperatorKey,
  encodeSignedManifest,
  type Manifest,
  manifestHash,
  parseManifest,
  parseSignedManifest,
  parseTask,
  statisticsOf,
} from "./index.ts";

/** ElGamal, because choosing lattice parameters takes a while. */
const task = parseTask(
  JSON.stringify({
    version: 3,
    task: "editor-health",
    tickSeconds: 300,
    ticks: 288,
    graceSeconds: 86400,
    mode: "one-server",
    scheme: "elgamal",
    minimumDevices: 1000,
    metrics: [
      { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
      { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2, 5], localEpsilon: 1 },
      { name: "tabs.opened", statistic: "mean", limit: 10, sigma: 2 },
    ],
  }),
);
const server = {
  role: "tally",
  url: "https://telemetry.example",
  key: encodeOperatorKey(new Uint8Array(32).fill(7)),
} as const;
const good: Manifest = { ...task, fromWindow: 19_000, servers: [server] };

const refusalOf = (manifest: unknown): string => refusal(() => parseManifest(JSON.stringify(manifest)));
const refusalOfServer = (changes: object): string => refusalOf({ ...good, servers: [{ ...server, ...changes }] });

describe("a manifest", () => {
  it("is read as it was written", () => {
    expect(parseManifest(encodeManifest(good))).toStrictEqual(good);
  });

  it("from before there were hides says nothing of them, and means as many as ticks, with room in every tick", () => {
    const { hides, missing, ...old } = good;
    const read = parseManifest(JSON.stringify(old));
    expect(read).toStrictEqual(old);
    for (const { spec } of statisticsOf(read)) expect(spec.hides).toBe(288);
    expect(statisticsOf(read).map(({ spec }) => "roomPerTick" in spec)).toEqual([false, true, true]);
    for (const { spec } of statisticsOf(good)) expect(spec).not.toHaveProperty("roomPerTick");
  });

  it("holds every field of its task and both of its own: without one it is refused by name", () => {
    const required = Object.keys(good).filter((field) => !["scheme", "hides", "missing"].includes(field));
    expect(required).toHaveLength(10);
    for (const field of required) {
      expect(refusalOf({ ...good, [field]: undefined })).toBe(`${field} is missing`);
    }
    for (const field of ["role", "url", "key"]) {
      expect(refusalOfServer({ [field]: undefined })).toBe(`servers[0].${field} is missing`);
    }
  });

  it("is refused with the name of the field that is wrong", () => {
    for (const [changes, message] of [
      [{ fromWindow: -1 }, "fromWindow is a whole number from 0 to 9007199254740991, not -1"],
      [{ fromWindow: 1.5 }, "fromWindow is a whole number from 0 to 9007199254740991, not 1.5"],
      [{ fromWindow: "1" }, 'fromWindow is a number, not "1"'],
      [{ servers: [] }, "servers is a list of 1 to 2 servers, not of 0"],
      [{ servers: [server, server, server] }, "servers is a list of 1 to 2 servers, not of 3"],
      [{ servers: server }, "servers is a list of 1 to 2 servers, not an object"],
      [{ servers: ["tally"] }, 'servers[0] is an object, not "tally"'],
      [{ server }, "server is not a field of a manifest"],
      [{ ticks: 0 }, "ticks is a whole number from 1 to 100000, not 0"],
      [{ task: "Editor" }, 'task is a letter a-z and up to 63 more of a-z, 0-9, . and -, not "Editor"'],
    ] as const) {
      expect(refusalOf({ ...good, ...changes })).toBe(message);
    }
    for (const [changes, message] of [
      [{ role: "intake" }, 'servers[0].role is one of tally, leader, helper, not "intake"'],
      [{ url: "telemetry.example" }, 'servers[0].url is an http or https address, not "telemetry.example"'],
      [{ url: "javascript:alert(1)" }, 'servers[0].url is an http or https address, not "javascript:alert(1)"'],
      [{ url: "https://a b" }, 'servers[0].url is an http or https address, not "https://a b"'],
      [{ url: "https://a\n" }, 'servers[0].url is an http or https address, not "https://a\\n"'],
      [{ url: 1 }, "servers[0].url is an http or https address, not 1"],
      [{ key: 1 }, "servers[0].key is a text, not 1"],
      [{ name: "a" }, "servers[0].name is not a field of a server"],
    ] as const) {
      expect(refusalOfServer(changes)).toBe(message);
    }
    expect(refusalOf({ ...good, servers: [{ ...server, role: "leader" }] })).toBe(
      "servers of mode one-server are tally, in this order",
    );
  });

  it("is refused with a server key that is none", () => {
    const short = encodeOperatorKey(new Uint8Array(31));
    for (const key of [server.key.slice(8), short, `${server.key}A`, `${server.key}=`, "", "rsa:AAAA"]) {
      expect(refusalOfServer({ key })).toMatch(/operator key|servers\[0]\.key/);
    }
  });

  it("is refused by a server if its task cannot run", () => {
    const serversRefusal = (metrics: unknown) => refusal(() => parseManifest(JSON.stringify({ ...good, metrics })));
    expect(serversRefusal([{ name: "tabs.opened", statistic: "mean", limit: 100_000, sigma: 1 }])).toMatch(
      /^metrics\[0] \(tabs\.opened\): elgamal .* use the lattice scheme/,
    );
    expect(serversRefusal([...good.metrics, good.metrics[0]])).toMatch(/^metrics\[3]\.name is unique/);
  });

  it("is a JSON object and nothing else", () => {
    expect(refusal(() => parseManifest("{"))).toBe("manifest is not JSON");
    expect(refusal(() => parseManifest("[]"))).toBe("manifest is an object, not a list");
    expect(refusal(() => parseManifest(`${encodeManifest(good)}x`))).toBe("manifest is not JSON");
  });
});

describe("the hash of a manifest", () => {
  const text = encodeManifest(good);

  it("has 32 bytes and changes with any character, white space and order included", () => {
    const hash = manifestHash(text);
    expect(hash).toHaveLength(32);
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.string({ unit: "binary", maxLength: 1 }), (at, other) => {
        fc.pre(text.slice(at, at + 1) !== other);
        expect(manifestHash(text.slice(0, at) + other + text.slice(at + 1))).not.toStrictEqual(hash);
      }),
    );
    const { version, ...rest } = good;
    for (const other of [
      `${text} `,
      `${text}\n`,
      JSON.stringify(good, null, 1),
      JSON.stringify({ ...rest, version }),
    ]) {
      expect(parseManifest(other)).toEqual(good);
      expect(manifestHash(other)).not.toStrictEqual(hash);
    }
  });

  it("is of its UTF-8 bytes", () => {
    const hash = new Uint8Array(32);
    xof("lethe manifest", Uint8Array.of(0xc3, 0xa9, 0x7b))(hash);
    expect(manifestHash("é{")).toStrictEqual(hash);
  });
});

describe("a signed manifest", () => {
  const signature = Uint8Array.from({ length: 64 }, (_, i) => i);

  it("is sent with the text exactly as it is", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        (manifest, bytes) => {
          const sent = encodeSignedManifest({ manifest, signature: bytes });
          expect(parseSignedManifest(sent)).toStrictEqual({ manifest, signature: bytes });
        },
      ),
    );
    expect(JSON.parse(encodeSignedManifest({ manifest: "{ }", signature }))).toStrictEqual({
      manifest: "{ }",
      signature: encodeBase64url(signature),
    });
  });

  it("is refused with the name of the field that is wrong", () => {
    const signed = { manifest: "{}", signature: encodeBase64url(signature) };
    for (const [changes, message] of [
      [{ manifest: undefined }, "manifest is missing"],
      [{ manifest: {} }, "manifest is a text, not an object"],
      [{ signature: undefined }, "signature is missing"],
      [{ signature: 1 }, "signature is a text, not 1"],
      [{ signature: signed.signature.slice(1) }, "signature is 64 bytes in base64url"],
      [{ signature: `${signed.signature}=` }, "signature is 64 bytes in base64url"],
      [{ signature: `=${signed.signature.slice(1)}` }, "signature is not base64url"],
      [{ key: "" }, "key is not a field of a signed manifest"],
    ] as const) {
      expect(refusal(() => parseSignedManifest(JSON.stringify({ ...signed, ...changes })))).toBe(message);
    }
    expect(refusal(() => parseSignedManifest("null"))).toBe("manifest is an object, not null");
    expect(refusal(() => parseSignedManifest(""))).toMatch(/^manifest is not JSON/);
  });
});

describe("an operator key", () => {
  it("is ed25519: and 32 bytes in base64url", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
        expect(encodeOperatorKey(key)).toBe(`ed25519:${Buffer.from(key).toString("base64url")}`);
        expect(decodeOperatorKey(encodeOperatorKey(key))).toStrictEqual(key);
      }),
    );
  });

  it("is refused in any other form", () => {
    const key = encodeOperatorKey(new Uint8Array(32));
    for (const other of ["", "ed25519", key.slice(8), key.toUpperCase(), ` ${key}`, key.replace(":", "=")]) {
      expect(refusal(() => decodeOperatorKey(other))).toBe("an operator key begins with ed25519:");
    }
    for (const other of ["ed25519:", `${key}A`, key.slice(0, -1), `${key} `]) {
      expect(refusal(() => decodeOperatorKey(other))).toBe("an operator key is 32 bytes in base64url");
    }
    expect(refusal(() => decodeOperatorKey(`${key.slice(0, -1)}B`))).toBe("an operator key is not base64url");
  });
});
