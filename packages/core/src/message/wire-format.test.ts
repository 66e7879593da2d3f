import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { secret } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { randomnessFrom, seededRandomnessForTests } from "../randomness/index.ts";
import { xof } from "../xof.ts";
import {
  decodeBase64url,
  decodeOperatorKey,
  decodePublicKeys,
  decodeReport,
  encodeBase64url,
  encodeManifest,
  encodeOperatorKey,
  encodePublicKeys,
  encodeReport,
  encodeSignedManifest,
  keyContextOf,
  type LayoutPart,
  layoutOf,
  manifestHash,
  parseEnrolment,
  parseManifest,
  parseSignedManifest,
  publicKeysSigningBytes,
  type Task,
} from "./index.ts";

/**
 * Texts are as they are sent. Bytes are in hex, public keys and states of more than 1,000 as `sha256:` and their hash.
 */
interface WireCase {
  readonly scheme: Task["scheme"];
  readonly window: number;
  /** Signed with the key of `signingSeed`. */
  readonly signedManifest: string;
  readonly manifestHash: string;
  readonly enrolment: string;
  readonly publicKeys: string;
  readonly signingBytes: string;
  readonly parts: readonly WirePart[];
  readonly report: string;
}

interface WirePart {
  readonly metrics: readonly string[];
  readonly keyIndex: number;
  /** Metrics of the statistic in which something happened, in the first tick. */
  readonly events: readonly number[];
  /** The last stored state, after two writes. */
  readonly state: string;
  readonly answers: readonly number[];
}

interface Vectors {
  readonly xof: readonly { readonly label: string; readonly parts: readonly string[]; readonly output: string }[];
  readonly base64url: readonly { readonly bytes: string; readonly text: string }[];
  /** Of the window. */
  readonly masterSecret: string;
  readonly signingSeed: string;
  readonly operatorKey: string;
  readonly cases: readonly WireCase[];
}

/**
 * What a decoder refuses, and with which error; of binary messages the bytes in hex. All are of the first good case.
 */
interface BadVectors {
  readonly refused: readonly {
    readonly what: string;
    readonly decoder: keyof typeof decoders;
    readonly input: string;
    readonly code: string;
    readonly message: string;
  }[];
  /** Reports that everybody must take for well-formed, and which of their parts are valid when opened. */
  readonly invalid: readonly {
    readonly what: string;
    readonly device: string;
    readonly report: string;
    readonly valid: readonly boolean[];
  }[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));
const vectors = read("wire-format.json") as Vectors;
const bad = read("wire-format.bad.json") as BadVectors;

const masterSecret = secret(hexToBytes(vectors.masterSecret));
const LONGEST_WHOLE = 1000;
const show = (bytes: Uint8Array): string =>
  bytes.length <= LONGEST_WHOLE ? bytesToHex(bytes) : `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** The DER of an Ed25519 private key (RFC 8410) but for its 32 bytes. */
const PKCS8 = "302e020100300506032b657004220420";

const signingKey = createPrivateKey({
  key: Buffer.from(PKCS8 + vectors.signingSeed, "hex"),
  format: "der",
  type: "pkcs8",
});
const operatorKey = encodeOperatorKey(
  decodeBase64url("x", createPublicKey(signingKey).export({ format: "jwk" }).x as string),
);

function publicKeyOf(operatorKey: Uint8Array): KeyObject {
  const jwk = { kty: "OKP", crv: "Ed25519", x: encodeBase64url(operatorKey) };
  return createPublicKey({ key: jwk, format: "jwk" });
}

const EVENTS = [[1], [0, 0], [0]] as const;

/** Everything in `wire-format.json` but what it starts from: after an intended change, this is what the file holds. */
function recomputed({ masterSecret, signingSeed, xof: hashes, base64url }: Vectors): Vectors {
  return {
    xof: hashes.map(({ label, parts }) => {
      const output = new Uint8Array(32);
      xof(label, ...parts.map(hexToBytes))(output);
      return { label, parts, output: bytesToHex(output) };
    }),
    base64url: base64url.map(({ bytes }) => ({ bytes, text: encodeBase64url(hexToBytes(bytes)) })),
    masterSecret,
    signingSeed,
    operatorKey,
    cases: [recomputedCase("elgamal"), recomputedCase("lattice")],
  };
}

function recomputedCase(scheme: Task["scheme"]): WireCase {
  const device = Uint8Array.from({ length: 16 }, (_, i) => 16 * i + (scheme === "elgamal" ? 1 : 2));
  const window = 19_876;
  const manifest = encodeManifest({
    version: 1,
    task: `vectors-${scheme}`,
    tickSeconds: 300,
    ticks: 2,
    graceSeconds: 600,
    mode: "one-server",
    scheme,
    minimumDevices: 10,
    metrics: [
      { name: "export.failed", statistic: "occurrence", localEpsilon: 1 },
      { name: "export.clicks", statistic: "histogram", edges: [0, 1, 2], localEpsilon: 1, eventsPerTick: 2 },
      { name: "tabs.opened", statistic: "mean", limit: 3, sigma: 2, eventsPerTick: 2 },
      { name: "export.done", statistic: "occurrence", localEpsilon: 2 },
    ],
    fromWindow: 19_870,
    servers: [{ role: "tally", url: "https://telemetry.example", key: operatorKey }],
  });
  const signed = (bytes: Uint8Array) => sign(null, bytes, signingKey);

  const layout = layoutOf(parseManifest(manifest));
  const context = { task: `vectors-${scheme}`, window, device, role: "tally" } as const;
  const keys = layout.map((part) => part.server.issueKey(masterSecret, keyContextOf(part, context)));
  const publicKeys = encodePublicKeys(keys);
  const hash = manifestHash(manifest);
  const signingBytes = publicKeysSigningBytes({ manifestHash: hash, window, device, role: "tally", publicKeys });

  const sealed: Uint8Array[] = [];
  const parts = layout.map((part, i): WirePart => {
    const recorder = part.device.start(keys[i] as Uint8Array, seededRandomnessForTests(`wire format ${scheme} ${i}`));
    const events = EVENTS[i] as readonly number[];
    for (const metric of events) recorder.record(metric);
    recorder.write();
    const state = recorder.write() as Uint8Array;
    const report = recorder.seal(state);
    sealed.push(report);
    const { answers } = part.server.open(masterSecret, keyContextOf(part, context), report, unused);
    return { metrics: part.metrics, keyIndex: part.firstKey, events, state: show(state), answers };
  });

  return {
    scheme,
    window,
    signedManifest: encodeSignedManifest({ manifest, signature: signed(utf8ToBytes(manifest)) }),
    manifestHash: bytesToHex(hash),
    enrolment: JSON.stringify({
      device: encodeBase64url(device),
      uploadToken: encodeBase64url(new Uint8Array(32).fill(0xa5)),
      manifestHash: encodeBase64url(hash),
      keys: [
        {
          role: "tally",
          publicKeys: encodeBase64url(publicKeys),
          signature: encodeBase64url(signed(signingBytes)),
        },
      ],
    }),
    publicKeys: show(publicKeys),
    signingBytes: bytesToHex(signingBytes),
    parts,
    report: bytesToHex(encodeReport(hash, sealed)),
  };
}

/** A draw is made whatever a report holds; the answers of a valid one do not depend on it. */
const unused = randomnessFrom(globalThis.crypto);

describe("wire-format.json", () => {
  it("holds what is computed afresh from its secrets, seeds and inputs", () => {
    expect(recomputed(vectors)).toStrictEqual(vectors);
    expect(vectors.xof.length).toBeGreaterThanOrEqual(3);
    expect(vectors.base64url.length).toBeGreaterThanOrEqual(4);
  });

  it.each(vectors.cases)("is read by a device and a server as they read one another, $scheme", (found) => {
    const operator = publicKeyOf(decodeOperatorKey(vectors.operatorKey));
    const { manifest: text, signature } = parseSignedManifest(found.signedManifest);
    expect(verify(null, utf8ToBytes(text), operator, signature)).toBe(true);
    const manifest = parseManifest(text);
    expect(manifest.servers.map(({ key }) => key)).toStrictEqual([vectors.operatorKey]);
    const layout = layoutOf(manifest);

    const { device, keys, ...enrolment } = parseEnrolment(found.enrolment);
    expect(enrolment.manifestHash).toStrictEqual(manifestHash(text));
    expect(keys).toHaveLength(1);
    const [{ role, publicKeys, signature: keySignature }] = keys as [(typeof keys)[number]];
    const binding = { manifestHash: manifestHash(text), window: found.window, device, role, publicKeys };
    expect(bytesToHex(publicKeysSigningBytes(binding))).toBe(found.signingBytes);
    expect(verify(null, hexToBytes(found.signingBytes), operator, keySignature)).toBe(true);
    expect(show(publicKeys)).toBe(found.publicKeys);

    const issued = decodePublicKeys(layout, publicKeys);
    const context = { task: manifest.task, window: found.window, device, role };
    const sealed = decodeReport(layout, manifestHash(text), hexToBytes(found.report));
    const opened = layout.map((part, i) => {
      expect(part.server.issueKey(masterSecret, keyContextOf(part, context))).toStrictEqual(issued[i]);
      return part.server.open(masterSecret, keyContextOf(part, context), sealed[i] as Uint8Array, unused);
    });
    expect(opened).toStrictEqual(found.parts.map(({ answers }) => ({ valid: true, answers })));
  });
});

const [goodCase] = vectors.cases as [WireCase];
const goodManifest = parseSignedManifest(goodCase.signedManifest).manifest;
const goodLayout = layoutOf(parseManifest(goodManifest));
const [firstPart] = goodLayout as [LayoutPart];
const goodKey = decodePublicKeys(goodLayout, hexToBytes(goodCase.publicKeys))[0] as Uint8Array;

/** Text as it is, bytes in hex. */
const decoders = {
  decodeBase64url: (text: string) => decodeBase64url("a token", text),
  decodeOperatorKey,
  parseSignedManifest,
  parseManifest,
  parseEnrolment,
  decodePublicKeys: (hex: string) => decodePublicKeys(goodLayout, hexToBytes(hex)),
  decodeReport: (hex: string) => decodeReport(goodLayout, manifestHash(goodManifest), hexToBytes(hex)),
  /** A public key of the first part. */
  start: (hex: string) => firstPart.device.start(hexToBytes(hex), seededRandomnessForTests(0)),
  /** A stored state of the first part. */
  resume: (hex: string) => firstPart.device.resume(goodKey, hexToBytes(hex), false, seededRandomnessForTests(0)),
} as const;

describe("wire-format.bad.json", () => {
  it("has a case for every decoder, each of which takes the good one", () => {
    expect(new Set(bad.refused.map(({ decoder }) => decoder))).toStrictEqual(new Set(Object.keys(decoders)));
    decoders.decodeBase64url(vectors.operatorKey.slice(8));
    decoders.decodeOperatorKey(vectors.operatorKey);
    decoders.parseSignedManifest(goodCase.signedManifest);
    decoders.parseManifest(goodManifest);
    decoders.parseEnrolment(goodCase.enrolment);
    decoders.decodePublicKeys(goodCase.publicKeys);
    decoders.decodeReport(goodCase.report);
    decoders.start(bytesToHex(goodKey));
    decoders.resume((goodCase.parts[0] as WirePart).state);
  });

  it.each(bad.refused)("$decoder refuses $what", ({ decoder, input, code, message }) => {
    let refused: unknown;
    try {
      decoders[decoder](input);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(LetheError);
    expect(refused).toMatchObject({ code, message });
  });

  it.each(bad.invalid)("$what is well-formed, and told apart only when opened", ({ device, report, valid }) => {
    const context = {
      task: "vectors-elgamal",
      window: goodCase.window,
      device: hexToBytes(device),
      role: "tally",
    } as const;
    const sealed = decoders.decodeReport(report);
    const opened = goodLayout.map((part, i) =>
      part.server.open(masterSecret, keyContextOf(part, context), sealed[i] as Uint8Array, seededRandomnessForTests(i)),
    );
    expect(opened.map((part) => part.valid)).toStrictEqual(valid);
  });
});
