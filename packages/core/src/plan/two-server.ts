import { informationTheoreticError, responseError, Z95 } from "../estimate/index.ts";
import {
  discreteGaussianVariance,
  type Exposure,
  serverNoise,
  serverNoiseBound,
  serverNoiseEpsilon,
  serverNoiseSigma,
} from "../privacy/index.ts";
import { requireAgainstCollusion } from "../statistic/collusion/names.ts";
import type { MetricPlan, Question } from "../statistic/question.ts";
import type { Collusion, CollusionSpec, NoiseSource, TwoServerSpec } from "../statistic/spec.ts";
import { entryOf, twoServerRunOf } from "../statistic/table.ts";
import { checkQuestion, planMetric } from "./metric.ts";

/** A question to a fleet with two servers. */
export interface TwoServerQuestion extends Question {
  /** The servers' for a mean, else the devices' if absent. */
  readonly noise?: NoiseSource;
  /** "one-server" if states must be safe from an intruder who has the keys of one server; "none" if absent. */
  readonly collusion?: Collusion | undefined;
}

/**
 * With noise at the devices `localEpsilon` is what both servers together learn of one device. With noise at the servers
 * it is what one of them learns, beside `delta`, as long as the other is honest, and no less than what a release
 * reveals; `sigma` is that of one server, in devices or, for a mean, in units of the limit.
 */
export interface TwoServerMetricPlan extends Omit<MetricPlan, "spec"> {
  readonly noise: NoiseSource;
  readonly spec: TwoServerSpec;
}

/** As `planMetric`, for two servers of which each sees one share of every answer. */
export function planTwoServerMetric(question: TwoServerQuestion): TwoServerMetricPlan {
  if (question.collusion === "one-server") return planAgainstCollusion(question);
  checkQuestion(question);
  return noiseOf(question) === "servers" ? planServerNoise(question) : planDeviceNoise(question);
}

function noiseOf({ statistic, noise, goal, mechanism }: TwoServerQuestion): NoiseSource {
  const { plan } = entryOf(statistic);
  const { noise: possible } = twoServerRunOf(statistic);
  const source = noise ?? possible[0];
  if (source !== "device" && source !== "servers") {
    throw new RangeError(`noise is device or servers, not ${String(source)}`);
  }
  if (source === "servers") {
    if (plan.settings?.includes("mechanism") && mechanism !== undefined) {
      throw new RangeError(`mechanism ${mechanism} is noise at the devices: leave it out, or use noise device`);
    }
    return source;
  }
  if (!possible.includes(source)) {
    throw new RangeError(
      `noise device is not for a ${statistic} of two servers, where it is the servers': use noise servers`,
    );
  }
  if ("sigma" in goal) throw new RangeError("sigma is the noise of servers: give an epsilon, or use noise servers");
  return source;
}

/** The servers see the sum of the answers that one server would see: its guarantees and its errors. */
function planDeviceNoise(question: TwoServerQuestion): TwoServerMetricPlan {
  const { spec, ...plan } = planMetric(question);
  return { ...plan, noise: "device", spec: { ...spec, noise: "device" } as TwoServerSpec };
}

/** Both servers see every answer, as one server would. Categories have K-ary response, however many there are. */
function planAgainstCollusion(question: TwoServerQuestion): TwoServerMetricPlan {
  const { statistic, noise, goal, mechanism = "kary" } = question;
  requireAgainstCollusion(statistic, noise ?? ("sigma" in goal ? "servers" : "device"));
  if (mechanism !== "kary") throw new RangeError(`mechanism is kary where collusion is one-server, not ${mechanism}`);
  const { spec, ...plan } = planMetric(statistic === "occurrence" ? question : { ...question, mechanism });
  return { ...plan, noise: "device", spec: { ...spec, noise: "device", collusion: "one-server" } as CollusionSpec };
}

/** Neither the guarantee nor the error of a count depends on how many devices there are. */
function planServerNoise(question: Question): TwoServerMetricPlan {
  const { statistic, devices, reporting, ticks, goal } = question;
  const { answers, plan } = entryOf(statistic);
  const run = twoServerRunOf(statistic);
  const exposure = run.exposure(question);
  const { sigma, epsilon } = noiseAndEpsilon(question, exposure);
  const noise = serverNoise(exposure, sigma);
  const variance = discreteGaussianVariance(noise);
  const isAverage = answers.output(question) === "average";
  const standardError = Math.sqrt(2 * variance) / (isAverage ? devices : 1);
  // In the clear nobody adds noise but the device: one response at this ε, or for an average as much as a server's.
  const inTheClear = isAverage ? Math.sqrt(variance / devices) : responseError(devices, epsilon);
  return {
    mechanism: "discrete-gaussian",
    noise: "servers",
    localEpsilon: epsilon,
    epsilon,
    delta: goal.delta,
    bound: serverNoiseBound(exposure, noise),
    reporting,
    // The servers accept nothing wider than an honest answer: each bit is proved, and of categories one is 1.
    hijackedEpsilon: epsilon,
    standardError,
    largestStandardError: standardError,
    detectable: isAverage ? Z95 * standardError : Math.ceil(Z95 * standardError),
    sigma,
    informationTheoreticStandardError: informationTheoreticError(inTheClear, ticks, plan.rangeOf(question)),
    spec: run.serverNoiseSpecOf({ ...question, metrics: 1 }, sigma),
  };
}

/** One from the other. What is promised to a server is promised to everybody, so ε and ε₀ ask for the same. */
function noiseAndEpsilon({ goal }: Question, exposure: Exposure): { readonly sigma: number; readonly epsilon: number } {
  if ("sigma" in goal) {
    const { sigma, delta } = goal;
    return { sigma, epsilon: serverNoiseEpsilon(exposure, serverNoise(exposure, sigma), delta) };
  }
  const epsilon = "epsilon" in goal ? goal.epsilon : goal.localEpsilon;
  return { sigma: serverNoiseSigma(exposure, epsilon, goal.delta), epsilon };
}
