import type { LabelledFigure } from "@lethe/core/message";
import type { Values } from "./choices.ts";
import { shownValue } from "./figures.ts";

/** A step of a funnel. */
export interface Step {
  readonly name: string;
  readonly value: number;
  readonly interval: readonly [low: number, high: number];
  /** Of the devices that reached the first step; undefined if that is not above zero. */
  readonly ofFirst: number | undefined;
  /** Of the devices that reached the step before; undefined of the first, or if that is not above zero. */
  readonly ofPrevious: number | undefined;
  /** How wide it is drawn, from 0 to 1. Noise can make a step larger than the one before, or negative. */
  readonly width: number;
}

/** The steps of a funnel from how many devices reached each. */
export function stepsOf(reached: readonly LabelledFigure[], values: Values): Step[] {
  const amounts = reached.map(({ figure }) => shownValue(figure, values));
  const most = Math.max(1e-9, ...amounts);
  const share = (value: number, of: number | undefined): number | undefined =>
    of !== undefined && of > 0 ? Math.max(0, value) / of : undefined;
  return reached.map(({ label = "", figure }, i) => {
    const value = amounts[i] ?? 0;
    return {
      name: label,
      value,
      interval: figure.interval,
      ofFirst: share(value, amounts[0]),
      ofPrevious: i === 0 ? undefined : share(value, amounts[i - 1]),
      width: Math.min(1, Math.max(0, value) / most),
    };
  });
}
