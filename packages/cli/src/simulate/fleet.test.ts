import { LetheError } from "@lethe/core/error";
import { expect, it, vi } from "vitest";
import { simulateFleet } from "./fleet.ts";

vi.mock("@lethe/lab/fleet", () => ({
  runFleet: async () => {
    throw new LetheError("window-closed", "the window is over");
  },
}));
vi.mock("@lethe/analyst", async (original) => ({
  ...(await original<object>()),
  fetchManifest: async () => ({ minimumDevices: 10 }),
}));

it("a fleet that is too late is told about the task's minimum, and about slow machines", async () => {
  const simulate = (devices: number): Promise<void> =>
    simulateFleet({ server: "http://127.0.0.1:9", task: "t", devices, rate: 0.1 });
  const late = (devices: number): string => `the window ended before all ${devices} devices had reported: `;
  const again = "; on a slow or busy machine try again, or use longer windows";
  await expect(simulate(12)).rejects.toThrow(
    `${late(12)}try fewer with --devices, but not below the task's minimum, 10${again}`,
  );
  await expect(simulate(10)).rejects.toThrow(
    `${late(10)}fewer than the task's minimum, 10, would not be released${again}`,
  );
});
