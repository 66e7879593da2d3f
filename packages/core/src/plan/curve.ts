import type { MetricPlan, Question } from "../statistic/question.ts";

/** From a hundred devices to a billion, three per decade. */
const DEVICES: readonly number[] = Array.from({ length: 22 }, (_, i) => Math.round(10 ** (2 + i / 3)));

/** From 0.1 to 10, ten per decade. */
const EPSILONS: readonly number[] = Array.from({ length: 21 }, (_, i) => Number((10 ** (i / 10 - 1)).toPrecision(3)));

type Errors = Pick<MetricPlan, "standardError" | "informationTheoreticStandardError">;

/** A point of an error curve. */
export interface ErrorAt<Plan> {
  /** The number of devices, or the ε₀. */
  readonly at: number;
  readonly plan: Plan;
}

/** How the error grows with the number of devices, at the guarantee that is asked for. */
export function errorsByDevices<Q extends Question, Plan extends Errors>(
  question: Q,
  planFor: (question: Q) => Plan,
  progress: (share: number) => void = () => {},
): ErrorAt<Plan>[] {
  const share = question.reporting / question.devices;
  // Errors depend on the honest reports only if the noise is to be as much as the release needs.
  const isOfRelease = "epsilon" in question.goal;
  const found = DEVICES.map((devices, i) => {
    progress(i / DEVICES.length);
    const reporting = isOfRelease ? Math.max(1, Math.floor(devices * share)) : 1;
    return { at: devices, plan: planFor({ ...question, devices, reporting, patience: 0.1 }) };
  });
  progress(1);
  return found;
}

/** How the error falls as ε₀ rises, with the same devices. What no noise can be drawn for is left out. */
export function errorsByEpsilon<Q extends Question, Plan extends Errors>(
  question: Q,
  planFor: (question: Q) => Plan,
): ErrorAt<Plan>[] {
  const { delta } = question.goal;
  return EPSILONS.flatMap((localEpsilon) => {
    try {
      return [{ at: localEpsilon, plan: planFor({ ...question, reporting: 1, goal: { localEpsilon, delta } }) }];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return [];
    }
  });
}
