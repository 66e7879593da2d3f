import { informationTheoreticError, responseError, Z95 } from "../estimate/standard-error.ts";
import {
  discreteGaussianVariance,
  serverNoise,
  serverNoiseBound,
  serverNoiseEpsilon,
  serverNoiseSigma,
} from "../privacy/index.ts";
import type { NoiseSource, ServerNoiseSpec, TwoServerSpec } from "../two-server/spec.ts";
import { checkQuestion, type MetricPlan, planMetric, type Question } from "./metric.ts";

export interface TwoServerQuestion extends Question {
  /** The servers' for a mean, else the devices' if absent. */
  readonly noise?: NoiseSource;
}

/**
 * With noise at the devices `localEpsilon` is what both servers together learn of one device. With noise at the servers it is what
 * one of them learns, beside `delta`, as long as the other is honest, and no less than what a release reveals; `sigma` is that of one
 * server, in devices or, for a mean, in units of the limit.
 */
export interface TwoServerMetricPlan extends Omit<MetricPlan, "spec"> {
  readonly noise: NoiseSource;
  readonly spec: TwoServerSpec;
}

/** As `planMetric`, for two servers of which each sees one share of every answer. */
export function planTwoServerMetric(question: TwoServerQuestion): TwoServerMetricPlan {
  checkQuestion(question);
  return noiseOf(question) === "servers" ? planServerNoise(question) : planDeviceNoise(question);
}

function noiseOf({ statistic, noise, goal, mechanism }: TwoServerQuestion): NoiseSource {
  const source = noise ?? (statistic === "mean" ? "servers" : "device");
  if (source !== "device" && source !== "servers") {
    throw new RangeError(`noise is device or servers, not ${String(source)}`);
  }
  if (source === "servers") {
    if (statistic === "histogram" && mechanism !== undefined) {
      throw new RangeError(`mechanism ${mechanism} is noise at the devices: leave it out, or use noise device`);
    }
    return source;
  }
  if (statistic === "mean") {
    throw new RangeError("noise device is not for a mean of two servers, where it is the servers': use noise servers");
  }
  if ("sigma" in goal) throw new RangeError("sigma is the noise of servers: give an epsilon, or use noise servers");
  return source;
}

/** The servers see the sum of the answers that one server would see: its guarantees and its errors. */
function planDeviceNoise(question: TwoServerQuestion): TwoServerMetricPlan {
  const { spec, ...plan } = planMetric(question);
  if (spec.statistic === "mean") throw new TypeError("a mean of two servers has its noise at the servers");
  return { ...plan, noise: "device", spec: { ...spec, noise: "device" } };
}

/** Neither the guarantee nor the error of a count depends on how many devices there are. */
function planServerNoise(question: Question): TwoServerMetricPlan {
  const { statistic, devices, reporting, ticks, limit, goal } = question;
  const { sigma, epsilon } = noiseAndEpsilon(question);
  const noise = serverNoise(question, sigma);
  const variance = discreteGaussianVariance(noise);
  const sumError = Math.sqrt(2 * variance);
  const standardError = statistic === "mean" ? sumError / devices : sumError;
  return {
    mechanism: "discrete-gaussian",
    noise: "servers",
    localEpsilon: epsilon,
    epsilon,
    delta: goal.delta,
    bound: serverNoiseBound(question, noise),
    reporting,
    // The servers accept nothing wider than an honest answer: each bit is proved, and of a histogram one is 1.
    hijackedEpsilon: epsilon,
    standardError,
    largestStandardError: standardError,
    detectable: statistic === "mean" ? Z95 * standardError : Math.ceil(Z95 * standardError),
    sigma,
    // In the clear nobody adds noise but the device: one response at this ε, or for a mean as much as a server's.
    informationTheoreticStandardError:
      statistic === "mean"
        ? informationTheoreticError(Math.sqrt(variance / devices), ticks, limit)
        : informationTheoreticError(responseError(devices, epsilon), ticks, devices),
    spec: specOf(question, sigma),
  };
}

/** One from the other. What is promised to a server is promised to everybody, so ε and ε₀ ask for the same. */
function noiseAndEpsilon(question: Question): { readonly sigma: number; readonly epsilon: number } {
  const { goal } = question;
  if ("sigma" in goal) {
    const { sigma, delta } = goal;
    return { sigma, epsilon: serverNoiseEpsilon(question, serverNoise(question, sigma), delta) };
  }
  const epsilon = "epsilon" in goal ? goal.epsilon : goal.localEpsilon;
  return { sigma: serverNoiseSigma(question, epsilon, goal.delta), epsilon };
}

function specOf({ statistic, ticks, hides, edges, limit }: Question, sigma: number): ServerNoiseSpec {
  const common = { noise: "servers", ticks, ...(hides !== undefined && { hides }) } as const;
  if (statistic === "occurrence") return { statistic, ...common, sigmas: [sigma] };
  if (statistic === "histogram") return { statistic, ...common, edges, sigma };
  return { statistic, ...common, limit, sigma };
}
