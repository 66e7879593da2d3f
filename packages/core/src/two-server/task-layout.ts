import type { Task } from "../message/task.ts";
import { type TwoServerTaskStatistic, twoServerStatisticsOf } from "../message/two-server-statistics.ts";
import { HALF_BYTES, type ServerRole } from "../sharing/shared-bit.ts";
import { SLOT_HALF_BYTES } from "../sharing/shared-slot.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";

/** A statistic at its place in the messages. */
export interface TwoServerPart extends TwoServerTaskStatistic {
  readonly statistic: TwoServerStatistic;
}

/** In the order of their bits in a report. */
export type TwoServerLayout = readonly TwoServerPart[];

/** Everything that device and servers derive from a task of two servers. */
export function twoServerLayoutOf(task: Task): TwoServerLayout {
  return twoServerStatisticsOf(task).map((part) => ({ ...part, statistic: createTwoServerStatistic(part.spec) }));
}

/** What the sizes of messages follow from. */
export type TwoServerStatistics = readonly Pick<TwoServerPart, "statistic">[];

/** Of a server's half of a report, before it is wrapped. */
export function halfBytes(layout: TwoServerStatistics, role: ServerRole): number {
  return layout.reduce((sum, { statistic }) => sum + statisticHalfBytes(statistic, role), 0);
}

/** The part of one statistic. */
export function statisticHalfBytes(
  { answerOf, collusion }: Pick<TwoServerStatistic, "answerOf" | "collusion">,
  role: ServerRole,
): number {
  return answerOf.length * (collusion ? SLOT_HALF_BYTES : HALF_BYTES[role]);
}
