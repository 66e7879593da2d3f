import type { DeviceScheme } from "../../encryption/rerandomizable.ts";
import {
  type Adding,
  applyResponses,
  type CounterScheme,
  type PaperAlgorithm,
  paperDevice,
  paperServer,
} from "../paper/ciphertext-vector.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { drawHistogramResponses, isHistogramAnswer, respondHistogram } from "./answer.ts";
import {
  bucketOf,
  checkHistogram,
  type HistogramMechanism,
  type HistogramSpec,
  histogramEstimates,
  histogramMechanism,
} from "./histogram.ts";

/**
 * Alg. 3, with three changes (docs/errata.md, 1 and 5): the shift runs downwards; the mechanism spends ε on the whole
 * vector; and because the scheme adds, the top slot absorbs, so that exactly[k] means "k or more" and the d_i of the
 * paper are not needed.
 */
function algorithm<C>(scheme: Adding<C>, { edges }: HistogramSpec, mechanism: HistogramMechanism): PaperAlgorithm<C> {
  const top = edges.at(-1) as number;
  return {
    saturation: top,
    metrics: 1,
    stateLength: top + 1,
    reportLength: edges.length,
    keys: 1,
    initialize: ({ encrypt }) => Array.from({ length: top + 1 }, (_, i) => encrypt(i === 0 ? 1 : 0, i)), // l. 2–5
    update: (exactly, _metric, { encrypt }) => {
      const shifted = [encrypt(0, 0), ...exactly.slice(0, top)]; // l. 13–16
      return shifted.with(top, scheme.add(exactly[top] as C, exactly[top - 1] as C));
    },
    sendToServer: (exactly, encryptor, random) => {
      const buckets = edges.map((_, b) => {
        return exactly.filter((_, count) => bucketOf(edges, count) === b).reduce(scheme.add); // l. 20–23
      });
      return applyResponses(buckets, drawHistogramResponses(mechanism, random), encryptor); // l. 24–34
    },
  };
}

/** The device's half, on any scheme that adds. */
export function paperHistogramDevice<P, C>(scheme: DeviceScheme<P, C> & Adding<C>, spec: HistogramSpec): DeviceSide {
  checkHistogram(spec);
  return paperDevice(scheme, spec, algorithm(scheme, spec, histogramMechanism(spec)));
}

/** The server's half. */
export function paperHistogramServer<P, S, C>(scheme: CounterScheme<P, S, C>, spec: HistogramSpec): ServerSide {
  checkHistogram(spec);
  const mechanism = histogramMechanism(spec);
  return {
    ...paperServer(
      scheme,
      { reportLength: spec.edges.length, keys: 1 },
      {
        read: (bits) => (isHistogramAnswer(mechanism, bits) ? bits : undefined),
        onNoEvent: (random) => respondHistogram(mechanism, 0, random),
      },
    ),
    ...histogramEstimates(mechanism),
  };
}
