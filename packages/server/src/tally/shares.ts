import { type KeyObject, sign } from "node:crypto";
import { fastXof, nobleGroup, type RistrettoGroup, secret } from "@lethe/core/encryption";
import { DEVICE_BYTES, type Manifest, manifestHash, parseManifest, publicKeysSigningBytes } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import {
  encodeShareKeys,
  issueShareKeys,
  type PreparedHalf,
  prepareReport,
  type ServerRole,
  type TwoServerLayout,
  twoServerLayoutOf,
} from "@lethe/core/two-server";
import { pack, unpack } from "../storage/database.ts";
import { deriveNodeWrappingKeys } from "./hpke.ts";
import type { IssuedKeys, WindowKeys } from "./opening.ts";

/** A server's half of a report, as it was received. */
export interface ReceivedHalf {
  readonly device: Uint8Array;
  readonly report: Uint8Array;
  readonly half: Uint8Array;
}

const random = randomnessFrom(globalThis.crypto);
const known = new Map<string, { manifest: Manifest; hash: Uint8Array; layout: TwoServerLayout }>();

function contextOf(text: string): { manifest: Manifest; hash: Uint8Array; layout: TwoServerLayout } {
  let found = known.get(text);
  if (!found) {
    const manifest = parseManifest(text);
    found = { manifest, hash: manifestHash(text), layout: twoServerLayoutOf(manifest) };
    known.set(text, found);
  }
  return found;
}

/** The signed keys of one of two servers, for known devices or for a number of new ones. */
export async function issueShares(
  { manifest: text, window, windowSecret }: WindowKeys,
  role: ServerRole,
  devices: readonly Uint8Array[] | number,
  signingKey: KeyObject,
  group: RistrettoGroup = nobleGroup,
): Promise<IssuedKeys[]> {
  const { manifest, hash } = contextOf(text);
  const master = secret(windowSecret);
  const at = { task: manifest.task, window };
  const { publicKey: wrappingKey } = deriveNodeWrappingKeys(master, { ...at, role });
  const ids = typeof devices === "number" ? Array.from({ length: devices }, newDevice) : devices;
  return ids.map((device) => {
    const publicKeys = encodeShareKeys({ shareKeys: issueShareKeys(role, master, at, device, group), wrappingKey });
    const binding = { manifestHash: hash, window, device, role, publicKeys };
    return {
      device,
      publicKeys,
      signature: new Uint8Array(sign(null, publicKeysSigningBytes(binding, fastXof), signingKey)),
    };
  });
}

function newDevice(): Uint8Array {
  const device = new Uint8Array(DEVICE_BYTES);
  random(device);
  return device;
}

/** Opens and queries a server's halves of reports. The same halves always give the same result. */
export async function prepareShares(
  { manifest: text, window, windowSecret }: WindowKeys,
  role: ServerRole,
  verifyKey: Uint8Array,
  halves: readonly ReceivedHalf[],
  group: RistrettoGroup = nobleGroup,
): Promise<PreparedHalf[]> {
  const { manifest, layout } = contextOf(text);
  const master = secret(windowSecret);
  const at = { task: manifest.task, window };
  const wrapping = deriveNodeWrappingKeys(master, { ...at, role });
  const statistics = layout.map(({ statistic }) => statistic);
  const server = { ...at, role, statistics, master, wrapping, verifyKey, group };
  const prepared = await Promise.all(
    halves.map(({ device, report, half }) => prepareReport(server, { device, report }, half)),
  );
  const verifiers = inOneBuffer(prepared.map(({ verifier }) => verifier));
  const outShares = inOneBuffer(prepared.map(({ outShare }) => outShare));
  const expected = inOneBuffer(prepared.flatMap(({ expected: hashes }) => hashes ?? []));
  return verifiers.map((verifier, i) => ({
    verifier,
    outShare: outShares[i] as Uint8Array,
    ...(expected[i] && { expected: expected[i] }),
  }));
}

/** Values of one length: a thread passes on one buffer faster than hundreds. */
function inOneBuffer(values: readonly Uint8Array[]): Uint8Array[] {
  return unpack(pack(values), values[0]?.length ?? 0);
}
