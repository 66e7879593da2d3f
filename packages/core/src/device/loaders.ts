import type { elgamalDevice } from "./elgamal.ts";
import type { rotationDevice } from "./rotations.ts";
import type { twoServerProtocolOf } from "./two-server.ts";

/** The parts of a device that only some tasks need: each returns what makes one of them run. */
export interface Loaders {
  rotations(): Promise<typeof rotationDevice>;
  elgamal(): Promise<typeof elgamalDevice>;
  twoServer(): Promise<typeof twoServerProtocolOf>;
}

/**
 * Where a device finds those parts. As it stands, each is a separate file, imported when the first task asks for it.
 * `provideEveryPart` of `all.ts` fills the table with parts that are loaded already, for places that forbid `import()`.
 */
export const loaders: Loaders = {
  rotations: async () => (await import("./rotations.ts")).rotationDevice,
  elgamal: async () => (await import("./elgamal.ts")).elgamalDevice,
  twoServer: async () => (await import("./two-server.ts")).twoServerProtocolOf,
};
