import { readFields, readMessage } from "../schema/index.ts";
import type { Manifest, SignedManifest } from "./manifest.ts";
import { MANIFEST_FIELDS, SIGNED_MANIFEST_FIELDS } from "./manifest-fields.ts";
import { requireRunnable } from "./runnable.ts";

/** One server does everything; of two the leader comes first. */
const ROLES = { "one-server": ["tally"], "two-server": ["leader", "helper"] } as const;

function requireServers(manifest: Manifest): Manifest {
  const expected = ROLES[manifest.mode];
  const isExpected = expected.every((role, i) => manifest.servers[i]?.role === role);
  if (!isExpected || manifest.servers.length !== expected.length) {
    throw new RangeError(`servers of mode ${manifest.mode} are ${expected.join(" and ")}, in this order`);
  }
  return manifest;
}

/** Reads a manifest whose signature was checked; the task in it can run. */
export function parseManifest(json: string): Manifest {
  return readMessage("manifest", json, (found) => {
    return requireRunnable(requireServers(readFields("", found, "a manifest", MANIFEST_FIELDS)));
  });
}

/** Reads the envelope; the signature is still to be checked, over the bytes of `manifest`. */
export function parseSignedManifest(json: string): SignedManifest {
  return readMessage("manifest", json, (found) => readFields("", found, "a signed manifest", SIGNED_MANIFEST_FIELDS));
}
