import { ledgerDevice, planLedger } from "../statistic/occurrence/ledger.ts";
import type { SchemeName, StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import { loaders } from "./loaders.ts";

/**
 * The device's half of `createStatistic`, without any of the server's. Only the ledger is always there; rotations, and
 * ElGamal, whose curve is larger than all the rest together, are loaded for tasks that ask for them.
 */
export async function createDevice(scheme: SchemeName, spec: StatisticSpec): Promise<DeviceSide> {
  if (scheme === "elgamal") return (await loaders.elgamal())(spec);
  if (spec.statistic === "occurrence") return ledgerDevice(planLedger(spec));
  return (await loaders.rotations())(spec);
}
