import { type DeviceCost, STEPS, type StepCost } from "./cost.ts";

/** What a deployment looks like; `docs/scale.md` states these beside the table that follows from them. */
export const ASSUMPTIONS = {
  /** The busiest minute, divided by the mean: what the random delay of devices allows. */
  peak: 2,
  /** Processors are used to this degree at the peak, so that the loss of a machine is no outage. */
  utilization: 0.5,
  coresPerMachine: 16,
  coresPerDatabase: 16,
  /** What a disk of a database takes, in bytes per second. */
  walPerSecond: 200e6,
  /** What a database stores, so that copying or restoring it takes hours, not days. */
  diskPerDatabase: 4e12,
  /** Windows of a day whose reports are stored at once: the one that ended, and one that is late in its grace period. */
  windowsStored: 2,
  /** A database holds this many times its data: indexes that grow, rows that wait for the vacuum, a day of log. */
  diskFactor: 2,
} as const;

/** What a number of devices needs that report once per day. */
export interface Needs {
  readonly devicesPerDay: number;
  /** Devices per second at the peak. */
  readonly peakPerSecond: number;
  /** Processors that are busy at the peak, per role. */
  readonly cores: Readonly<Record<Role, number>>;
  /** One for each of the two roles at least. */
  readonly machines: number;
  readonly databases: number;
  /** Bytes of disk, in all databases together. */
  readonly disk: number;
  /** Bytes of write-ahead log per second, in all databases together, at the peak. */
  readonly walPerSecond: number;
  /** Bits per second between devices and intakes, at the peak; TLS and TCP come on top. */
  readonly network: number;
}

type Role = "intake" | "tally" | "postgres";
const SECONDS_PER_DAY = 86_400;

/** The sum over the steps of a device's window. */
export function totalOf(cost: DeviceCost, of: keyof StepCost): number {
  return STEPS.reduce((sum, step) => sum + cost[step][of], 0);
}

/**
 * The needs of a number of devices, from the cost of one: everything is proportional to the number of devices, because
 * no two devices share a row, and a release costs the same for any number.
 */
export function needsOf(cost: DeviceCost, devicesPerDay: number): Needs {
  const { peak, utilization, coresPerMachine, coresPerDatabase, windowsStored, diskFactor } = ASSUMPTIONS;
  const peakPerSecond = (peak * devicesPerDay) / SECONDS_PER_DAY;
  const coresOf = (role: Role): number => (peakPerSecond * totalOf(cost, role)) / 1e6;
  const machinesFor = (role: Role): number => Math.ceil(coresOf(role) / utilization / coresPerMachine);
  const walPerSecond = peakPerSecond * totalOf(cost, "wal");
  // What is erased is given back, so only what was stored counts.
  const stored = cost.enrol.stored + cost.upload.stored + cost.count.stored;
  const disk = devicesPerDay * windowsStored * diskFactor * stored;
  return {
    devicesPerDay,
    peakPerSecond,
    cores: { intake: coresOf("intake"), tally: coresOf("tally"), postgres: coresOf("postgres") },
    machines: machinesFor("intake") + machinesFor("tally"),
    databases: Math.max(
      Math.ceil(coresOf("postgres") / utilization / coresPerDatabase),
      Math.ceil(walPerSecond / ASSUMPTIONS.walPerSecond),
      Math.ceil(disk / ASSUMPTIONS.diskPerDatabase),
    ),
    disk,
    walPerSecond,
    network: 8 * peakPerSecond * (totalOf(cost, "sent") + totalOf(cost, "received")),
  };
}
