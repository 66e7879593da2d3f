import type { TwoServerSpec } from "../statistic/spec.ts";
import type { DeviceInContext } from "../statistic/two-server.ts";
import type { Split } from "../two-server/wrapping.ts";

/** What a device keeps of a task of two servers, and how it is split into what each of them gets. */
export interface KeptKind {
  create(spec: TwoServerSpec): DeviceInContext;
  readonly split: Split;
}

/**
 * As `loaders`, for what only some tasks of two servers need. A table apart from that one, which every device loads.
 */
export const onDemand: { collusion(): Promise<KeptKind> } = {
  collusion: async () => (await import("./collusion.ts")).collusionKind,
};
