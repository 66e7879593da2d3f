import { LetheError } from "../error.ts";
import { decodePublicKeys } from "../message/device-keys.ts";
import type { Manifest } from "../message/manifest.ts";
import { encodeReport } from "../message/report.ts";
import type { Randomness } from "../randomness/randomness.ts";
import { type DeviceLayout, deviceLayoutOf } from "./layout.ts";
import { loaders } from "./loaders.ts";
import type { KeySigner } from "./messages.ts";

/** What a device does for a task with keys, events and the report; it differs between one server and two. */
export interface DeviceProtocol {
  readonly layout: DeviceLayout;
  /** Who signs keys for a device, in the order of the keys. */
  readonly signers: readonly KeySigner[];
  /**
   * The key of each part in a window, from the servers' keys one after another; throws unless they are keys of this
   * task.
   */
  keysOf(publicKeys: Uint8Array, window: number): readonly Uint8Array[];
  /** What is kept of the sealed parts until it is sent. */
  seal(publicKeys: Uint8Array, sealed: readonly Uint8Array[], random: Randomness): Uint8Array;
  /** What is sent: of the same report always the same bytes. */
  bodyOf(report: Uint8Array, window: number, device: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** Whom an application trusts. */
export interface TrustedKeys {
  /** Of the one server, or of the leader. */
  readonly operatorKey: string;
  /** Given exactly for tasks of two servers: else a leader could do without a helper, or bring its own. */
  readonly helperKey?: string | undefined;
}

/**
 * For a manifest that the operator has signed, and its hash. Choosing lattice parameters takes tens of milliseconds a
 * statistic: keep it. A task that asks for more than a ciphertext holds is refused with a `bad-task` error. Code that
 * only rotations, ElGamal or two servers need is loaded only for them; `unreachable` if that fails.
 */
export async function deviceProtocolOf(
  manifest: Manifest,
  hash: Uint8Array,
  keys: TrustedKeys,
): Promise<DeviceProtocol> {
  try {
    if (manifest.mode === "two-server") return await (await loaders.twoServer())(manifest, hash, keys);
    if (keys.helperKey) throw new LetheError("bad-signature", "the manifest has no helper with helperKey");
    const layout = await deviceLayoutOf(manifest);
    return {
      layout,
      signers: [{ role: "tally", key: keys.operatorKey }],
      keysOf: (publicKeys) => decodePublicKeys(layout, publicKeys),
      seal: (_, sealed) => encodeReport(hash, sealed),
      bodyOf: (report) => report,
    };
  } catch (error) {
    if (error instanceof RangeError) throw new LetheError("bad-task", error.message);
    if (error instanceof LetheError) throw error;
    notLoaded(error);
  }
}

/** Rejects what was to be imported on demand: `unreachable`, so that it is tried again. */
export function notLoaded(cause: unknown): never {
  throw new LetheError("unreachable", "a file of the SDK cannot be loaded", { cause });
}
