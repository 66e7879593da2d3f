import { LetheError } from "@lethe/core/error";
import { parseManifest, type SignedManifest } from "@lethe/core/message";
import type { OtherServer } from "../between/other-server.ts";
import { isSignedBy, requireSignedBy } from "../tally/open-keys.ts";

/**
 * A check of the tasks in a helper's database, which its leader must have signed. If another leader has signed one, the
 * operator has most likely given the wrong key, and the message says so.
 */
export function requireSignedByLeader({ operatorKey }: OtherServer): (task: SignedManifest) => void {
  const requireSigned = requireSignedBy(operatorKey);
  return (signed) => {
    if (isSignedBy(operatorKey, signed)) return;
    const { task, servers } = parseManifest(signed.manifest);
    const signer = servers[0]?.key ?? operatorKey;
    if (!isSignedBy(signer, signed)) requireSigned(signed);
    throw new LetheError(
      "bad-signature",
      `task ${task} was signed by the leader key ${signer}, and --peer-key says ${operatorKey}: is that the leader's, as lethe ` +
        "key prints it there? There is nothing to delete",
    );
  };
}
