import { join, splitInto } from "../bytes.ts";
import { LetheError } from "../error.ts";
import type { Manifest } from "../message/manifest.ts";
import { twoServerStatisticsOf } from "../message/two-server-statistics.ts";
import { type ServerRole, sharingContext, splitSharedBits } from "../sharing/shared-bit.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import type { DeviceInContext } from "../statistic/two-server.ts";
import { decodeShareKeys, encodeTwoServerReport, type ShareKeys, shareKeysBytes } from "../two-server/messages.ts";
import { REPORT_ID_BYTES, SEED_BYTES, WRAPPING_KEY_BYTES, wrapReport } from "../two-server/wrapping.ts";
import { type KeptKind, onDemand } from "./on-demand.ts";
import type { DeviceProtocol, TrustedKeys } from "./protocol.ts";
import { createTwoServerDevice } from "./two-server-statistics.ts";

/**
 * Of what is kept of a report: its id, what is drawn for each half, each server's wrapping key; then come the shared
 * bits.
 */
const KEPT: readonly number[] = [REPORT_ID_BYTES, SEED_BYTES, SEED_BYTES, WRAPPING_KEY_BYTES, WRAPPING_KEY_BYTES];

type Kept = [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/**
 * A leader and a helper. Sealing is done at once, and wrapping takes promises: so what is kept is what wrapping needs,
 * its randomness included, and every retry sends the same. That shows nobody more than the shared bits in it do, which
 * are all that is wrapped.
 */
export async function twoServerProtocolOf(
  manifest: Manifest,
  hash: Uint8Array,
  { operatorKey, helperKey }: TrustedKeys,
): Promise<DeviceProtocol> {
  const { task, servers } = manifest;
  if (helperKey === undefined) {
    throw new LetheError(
      "bad-signature",
      "the task has two servers: the application must pass the helper's key as helperKey",
    );
  }
  if (helperKey === operatorKey) {
    throw new LetheError("bad-signature", "helperKey is the leader's own: two servers of one operator are one");
  }
  if (servers[1]?.key !== helperKey) {
    throw new LetheError("bad-signature", "helperKey is not the key of the task's helper");
  }
  const { create, split } = await kindOf(manifest);
  const layout = twoServerStatisticsOf(manifest).map(({ spec }) => ({ device: inWindow(create(spec)) }));
  return {
    layout,
    signers: [
      { role: "leader", key: operatorKey },
      { role: "helper", key: helperKey },
    ],
    keysOf: (publicKeys, window) => {
      const { leader, helper } = decodeKeys(publicKeys);
      const key = join([leader.shareKeys, helper.shareKeys, sharingContext({ task, window })]);
      return layout.map(() => key);
    },
    seal: (publicKeys, sealed, random) => {
      const { leader, helper } = decodeKeys(publicKeys);
      const drawn = new Uint8Array(REPORT_ID_BYTES + 2 * SEED_BYTES);
      random(drawn);
      return join([drawn, leader.wrappingKey, helper.wrappingKey, ...sealed]);
    },
    bodyOf: async (kept, window, device) => {
      const shared = kept.length - KEPT.reduce((sum, length) => sum + length, 0);
      const [reportId, forLeader, forHelper, leader, helper, sharedBits] = splitInto(kept, [...KEPT, shared]) as Kept;
      const drawn = [forLeader, forHelper];
      const binding = { task, window, device, report: reportId };
      const halves = await wrapReport(
        { leader, helper },
        binding,
        sharedBits,
        (into) => {
          into.set(drawn.shift() as Uint8Array);
        },
        split,
      );
      return encodeTwoServerReport(hash, { reportId, ...halves });
    },
  };
}

/** What devices keep of a task: shared bits, or slots shared in the exponent, whose code is loaded for such tasks only. */
async function kindOf({ collusion = "none" }: Manifest): Promise<KeptKind> {
  if (collusion === "none") return { create: createTwoServerDevice, split: splitSharedBits };
  if (collusion === "one-server") return onDemand.collusion();
  throw new RangeError(`this version of the SDK cannot run collusion ${String(collusion)}`);
}

/** A key is followed by the context of its window. */
function inWindow(device: DeviceInContext): DeviceSide {
  const { bytes, events } = device(new Uint8Array());
  const of = (key: Uint8Array) => [device(key.subarray(bytes.publicKey)), key.subarray(0, bytes.publicKey)] as const;
  return {
    bytes,
    events,
    start: (key, random) => {
      const [side, proper] = of(key);
      return side.start(proper, random);
    },
    resume: (key, stored, sameTick, random) => {
      const [side, proper] = of(key);
      return side.resume(proper, stored, sameTick, random);
    },
  };
}

function decodeKeys(publicKeys: Uint8Array): Readonly<Record<ServerRole, ShareKeys>> {
  const leaders = shareKeysBytes("leader");
  return {
    leader: decodeShareKeys("leader", publicKeys.subarray(0, leaders)),
    helper: decodeShareKeys("helper", publicKeys.subarray(leaders)),
  };
}
