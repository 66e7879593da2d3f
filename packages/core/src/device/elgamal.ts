import { activePeriodsAutomaton } from "../statistic/active-periods/active-periods.ts";
import type { Automaton } from "../statistic/automaton/automaton.ts";
import { type AutomatonNoise, automatonDevice } from "../statistic/automaton/device.ts";
import { generalAutomaton } from "../statistic/automaton/general.ts";
import { choiceAutomaton } from "../statistic/choice/choice.ts";
import { funnelAutomaton } from "../statistic/funnel/funnel.ts";
import { elgamalHistogramDevice } from "../statistic/histogram/elgamal.ts";
import { jointAutomaton } from "../statistic/joint/joint.ts";
import { elgamalMeanDevice } from "../statistic/mean/elgamal.ts";
import { elgamalOccurrenceDevice } from "../statistic/occurrence/elgamal.ts";
import { retentionAutomaton } from "../statistic/retention/retention.ts";
import type { StatisticOn, StatisticSpec } from "../statistic/spec.ts";
import type { DeviceSide } from "../statistic/statistic.ts";
import type { StatisticTypes } from "../statistic/table.ts";
import type { WritesSpec } from "../statistic/writes.ts";
import { halfOf } from "./halves.ts";

/**
 * The device's half of a statistic that is an automaton, from what compiles its settings. Only a service checks their
 * form: of settings that an operator signed without one, the device says that it cannot run them.
 */
function compiledBy<Settings>(
  compile: (settings: Settings, place: WritesSpec) => Automaton,
): (spec: Settings & AutomatonNoise & WritesSpec & { readonly statistic: string }) => DeviceSide {
  return (spec) => {
    try {
      return automatonDevice(compile(spec, spec), spec, spec);
    } catch (error) {
      throw error instanceof TypeError ? new RangeError(`this ${spec.statistic} metric cannot be run`) : error;
    }
  };
}

const DEVICES: { readonly [Name in StatisticOn<"elgamal">]: (spec: StatisticTypes[Name]["oneServer"]) => DeviceSide } =
  {
    occurrence: elgamalOccurrenceDevice,
    histogram: elgamalHistogramDevice,
    mean: elgamalMeanDevice,
    funnel: compiledBy(funnelAutomaton),
    choice: compiledBy(choiceAutomaton),
    "active-periods": compiledBy(activePeriodsAutomaton),
    retention: compiledBy(retentionAutomaton),
    joint: compiledBy(jointAutomaton),
    automaton: compiledBy(generalAutomaton),
  };

/** The device's half of every statistic that runs on ElGamal; a `RangeError` for any other. */
export function elgamalDevice(spec: StatisticSpec): DeviceSide {
  return halfOf(DEVICES, spec, "on elgamal");
}
