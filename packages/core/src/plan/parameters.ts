import { reportBytes } from "../message/report.ts";
import { statisticFor } from "../statistic/create.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { defaultScheme } from "../statistic/names.ts";
import type { SchemeName, StatisticSpec, TwoServerSpec } from "../statistic/spec.ts";
import type { ServerEstimates } from "../statistic/statistic.ts";
import { twoServerReportBytes } from "../two-server/messages.ts";

/** What a device would run, and what of the plan it attains. */
export interface PlanParameters {
  readonly scheme: SchemeName;
  /** Of a lattice: its set, N and log₂ q. */
  readonly set?: "L1" | "L2";
  readonly dimension?: number;
  readonly modulusBits?: number;
  /** The plaintext modulus t, and of a ledger the z with e^ε = t/z − 1. */
  readonly t?: number;
  readonly z?: number;
  /** What is obtained; never more than planned. */
  readonly localEpsilon: number;
  readonly standardError: number;
  readonly stateBytes: number;
  /** What a device of a task with this statistic alone uploads, header included. */
  readonly reportBytes: number;
  readonly publicKeyBytes: number;
}

/**
 * On the scheme that is asked for; else on what a task would get that names none, or on ElGamal if it has no room
 * there. `delta` is that of a local ε that has one.
 */
export function parametersFor(
  spec: StatisticSpec | TwoServerSpec,
  devices: number,
  delta: number,
  scheme?: SchemeName,
): PlanParameters {
  if ("noise" in spec) return parametersOnTwoServers(spec, devices, delta);
  if (scheme !== undefined) return parametersOn(scheme, spec, devices, delta);
  try {
    return parametersOn(defaultScheme(spec.statistic), spec, devices, delta);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return parametersOn("elgamal", spec, devices, delta);
  }
}

function parametersOnTwoServers(spec: TwoServerSpec, devices: number, delta: number): PlanParameters {
  const statistic = createTwoServerStatistic(spec);
  const { bytes } = statistic;
  return {
    scheme: "elgamal",
    localEpsilon: statistic.localEpsilon(delta),
    standardError: emptyError(statistic, devices),
    stateBytes: bytes.state,
    reportBytes: twoServerReportBytes([{ statistic }]),
    publicKeyBytes: bytes.publicKey,
  };
}

function parametersOn(scheme: SchemeName, spec: StatisticSpec, devices: number, delta: number): PlanParameters {
  const { device, server, choice, z } = statisticFor(scheme, spec);
  return {
    scheme,
    ...(choice && {
      set: choice.parameters.set,
      dimension: choice.parameters.dimension,
      modulusBits: 25 * choice.parameters.limbs,
      t: 2 ** choice.plaintextBits,
    }),
    ...(z !== undefined && { z }),
    localEpsilon: server.localEpsilon(delta),
    standardError: emptyError(server, devices),
    stateBytes: device.bytes.state,
    reportBytes: reportBytes([{ device }]),
    publicKeyBytes: device.bytes.publicKey,
  };
}

/** Sums of 0 are estimated as "none", so this is the error of an empty bucket. */
function emptyError({ estimate }: Pick<ServerEstimates, "estimate">, devices: number): number {
  return estimate([0], devices)[0]?.standardError ?? Number.NaN;
}
