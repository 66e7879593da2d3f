import type { KeyRole } from "../encryption/index.ts";
import { LetheError } from "../error.ts";
import { decodeBase64url, decodeBase64urlOf } from "../message/base64url.ts";
import { DEVICE_BYTES } from "../message/device-keys.ts";
import type { Enrolment, SignedPublicKeys } from "../message/enrolment.ts";
import { type Manifest, SIGNATURE_BYTES, type SignedManifest } from "../message/manifest.ts";
import { schemeOf } from "../message/task.ts";
import { MODES, SCHEMES } from "../statistic/names.ts";

/**
 * What a device reads, in little code. The forms that a signature does not vouch for are checked in full; of what the
 * operator has signed only what could lead a device astray: the service has checked the rest before it signed.
 */

function read<T>(what: string, json: string, reader: (found: Record<string, unknown>) => T): T {
  try {
    return reader(JSON.parse(json) as Record<string, unknown>);
  } catch (error) {
    if (error instanceof LetheError) throw error;
    throw new LetheError("bad-encoding", `${what} cannot be read`, { cause: error });
  }
}

/** The envelope; the signature is still to be checked, over the bytes of `manifest`. */
export function readSignedManifest(json: string): SignedManifest {
  return read("the manifest", json, ({ manifest, signature }) => ({
    manifest: String(manifest),
    signature: decodeBase64urlOf("signature", SIGNATURE_BYTES, String(signature)),
  }));
}

const KNOWN: readonly string[] = [...MODES, ...SCHEMES];

/** A manifest whose signature was checked. Whether its task can run shows when it is laid out. */
export function readManifest(text: string): Manifest {
  return read("the manifest", text, (found) => {
    const manifest = found as unknown as Manifest;
    const { task, mode, metrics, ticks, hides = 0, tickSeconds, graceSeconds, fromWindow } = manifest;
    const words: readonly string[] = [mode, ...metrics.map((metric) => schemeOf(manifest, metric))];
    if (!words.every((word) => KNOWN.includes(word))) {
      throw new LetheError("bad-task", `this version of the SDK cannot run ${task}`);
    }
    const areTimes = [ticks, tickSeconds, 1 + hides, 1 + graceSeconds, 1 + fromWindow].every(
      (n) => Number.isSafeInteger(n) && n > 0,
    );
    if (!areTimes) throw new TypeError("not a time");
    return manifest;
  });
}

/** Whose keys a device gets, and the operator key that signs them. */
export interface KeySigner {
  readonly role: KeyRole;
  readonly key: string;
}

/** What a device needs of it. */
export interface DeviceEnrolment extends Omit<Enrolment, "manifestHash" | "keys"> {
  readonly keys: readonly (SignedPublicKeys & KeySigner)[];
}

/**
 * The answer to an enrolment, which has keys of these in this order; the signatures over them are still to be checked.
 */
export function readEnrolment(json: string, signers: readonly KeySigner[]): DeviceEnrolment {
  return read("the enrolment", json, ({ device, uploadToken, keys }) => {
    const token = String(uploadToken);
    // As a header can carry it.
    if (!/^[\x21-\x7e]{1,500}$/.test(token)) throw new TypeError("not a token");
    return {
      device: decodeBase64urlOf("device", DEVICE_BYTES, String(device)),
      uploadToken: token,
      keys: signers.map((signer, i) => {
        const { publicKeys, signature } = (keys as Record<string, unknown>[])[i] as Record<string, unknown>;
        return {
          ...signer,
          publicKeys: decodeBase64url("publicKeys", String(publicKeys)),
          signature: decodeBase64urlOf("signature", SIGNATURE_BYTES, String(signature)),
        };
      }),
    };
  });
}
