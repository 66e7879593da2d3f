import type { Views } from "./shell/app.tsx";

/** Each view is a file of its own, loaded when it is opened. */
export const VIEWS: Views = {
  results: async () => (await import("./results/results.tsx")).Results,
  privacy: async () => (await import("./privacy/privacy.tsx")).Privacy,
  operations: async () => (await import("./operations/operations.tsx")).Operations,
  plan: async () => (await import("./plan/plan.tsx")).Plan,
  device: async () => (await import("./device/device.tsx")).Device,
};
