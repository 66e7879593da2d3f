import { reportBytes } from "../message/report.ts";
import { defaultScheme } from "../message/task.ts";
import { createDiscreteGaussian, gaussianEpsilon, serverNoiseEpsilon } from "../privacy/index.ts";
import { statisticFor } from "../statistic/create.ts";
import type { SchemeName, StatisticSpec } from "../statistic/index.ts";
import { createTwoServerStatistic, type TwoServerSpec, twoServerReportBytes } from "../two-server/index.ts";

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

/** On the scheme that is asked for; else on what a task would get that names none, or on ElGamal if it has no room there. `delta` is that of a local ε that has one. */
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
  const { answers, bytes, estimate, localEpsilon, serverNoise = [] } = statistic;
  const counted = spec.noise === "servers" ? serverNoise.map((each) => serverNoiseEpsilon(spec, each, delta)) : [];
  return {
    scheme: "elgamal",
    localEpsilon: spec.noise === "servers" ? Math.max(...counted) : localEpsilon(),
    standardError: estimate(new Array<number>(answers).fill(0), devices)[0]?.standardError ?? Number.NaN,
    stateBytes: bytes.state,
    reportBytes: twoServerReportBytes([{ statistic }]),
    publicKeyBytes: bytes.publicKey,
  };
}

function parametersOn(scheme: SchemeName, spec: StatisticSpec, devices: number, delta: number): PlanParameters {
  const { device, server, choice } = statisticFor(scheme, spec);
  const answers = spec.statistic === "occurrence" ? spec.localEpsilons : spec.statistic === "mean" ? [0] : spec.edges;
  // Sums of 0 are estimated as "none", so these are the errors of empty buckets.
  const [first] = server.estimate(
    answers.map(() => 0),
    devices,
  );
  const localEpsilon = spec.statistic === "mean" ? meanEpsilon(spec, delta) : server.localEpsilon();
  const t = choice && 2 ** choice.plaintextBits;
  return {
    scheme,
    ...(choice && {
      set: choice.parameters.set,
      dimension: choice.parameters.dimension,
      modulusBits: 25 * choice.parameters.limbs,
    }),
    ...(t !== undefined && { t }),
    ...(t !== undefined && spec.statistic === "occurrence" && { z: Math.round(t / (1 + Math.exp(localEpsilon))) }),
    localEpsilon,
    standardError: first?.standardError ?? Number.NaN,
    stateBytes: device.bytes.state,
    reportBytes: reportBytes([{ device }]),
    publicKeyBytes: device.bytes.publicKey,
  };
}

function meanEpsilon({ sigma, limit }: { sigma: number; limit: number }, delta: number): number {
  const { sigma2 } = createDiscreteGaussian(sigma * limit);
  return gaussianEpsilon({ sigma2, sensitivity: limit, devices: 1 }, delta);
}
