import { collusionKind } from "./collusion.ts";
import { elgamalDevice } from "./elgamal.ts";
import { type Loaders, loaders } from "./loaders.ts";
import { onDemand } from "./on-demand.ts";
import { rotationDevice } from "./rotations.ts";
import { twoServerProtocolOf } from "./two-server.ts";

/**
 * From here on a device imports nothing on demand: every scheme is part of what was loaded. Calling it again changes
 * nothing.
 */
export function provideEveryPart(): void {
  const parts: Loaders = {
    rotations: async () => rotationDevice,
    elgamal: async () => elgamalDevice,
    twoServer: async () => twoServerProtocolOf,
  };
  Object.assign(loaders, parts);
  onDemand.collusion = async () => collusionKind;
}
