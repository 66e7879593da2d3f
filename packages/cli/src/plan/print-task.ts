import { schemeOf, type Task } from "@lethe/core/message";
import type { TaskPlan, TotalCost } from "@lethe/core/plan";
import { describeLimits, describeWrites, limitOf } from "../print/room.ts";
import { count, figure, formatTable } from "../print/table.ts";

/** A plan for JSON, with the room of each metric: `eventsPerTick` is null where every event is counted. */
export function withRoom(plan: TaskPlan, task: Task): object {
  const { ticks, hides = ticks } = task;
  const rooms = new Map(
    task.metrics.map((metric) => {
      return [metric.name, { scheme: schemeOf(task, metric), eventsPerTick: limitOf(task, metric) ?? null }];
    }),
  );
  const metrics = plan.metrics.map((metric) => ({ ...metric, ...rooms.get(metric.name) }));
  return { ...plan, ...(task.groups && { groups: task.groups }), ticks, hides, writes: ticks + hides, metrics };
}

/** The plan of a task as two tables: its metrics, and what a device pays for all of them. */
export function describeTask(plan: TaskPlan, task: Task): string {
  const { whom, ifHonest } = serversOf(task);
  const rows = plan.metrics.map((metric) => [
    metric.name,
    metric.mechanism,
    figure(metric.localEpsilon),
    figure(metric.epsilon),
    `± ${figure(metric.standardError)}`,
    figure(metric.detectable),
  ]);
  const totals = plan.total.windows > 1 ? [plan.perWindow, plan.total] : [plan.perWindow];
  return [
    ...describeGroups(task),
    `${plan.task}: errors with ${count(plan.devices)} devices, guarantees with ${count(plan.reporting)} honest reports${ifHonest}, at δ = ${figure(plan.delta)}`,
    "",
    formatTable(["metric", "mechanism", "local ε₀", "aggregate ε", "s.e.", "stands out"], rows, 2),
    "",
    formatTable(
      ["a device pays", `to ${whom}: local ε`, "", "in releases: aggregate ε", "", "if its report is hijacked: ε"],
      totals.map((total) => [
        total.windows === 1 ? "per window" : `over ${total.windows} windows`,
        figure(total.local.epsilon),
        describeSum(total),
        figure(total.aggregate.epsilon),
        "(upper, invalid count included)",
        Number.isFinite(total.hijackedEpsilon) ? figure(total.hijackedEpsilon) : "no bound",
      ]),
      6,
    ),
    "",
    `device: state ${count(plan.stateBytes)} bytes, report ${count(plan.reportBytes)} bytes; ${describeWrites(task)}`,
    ...describeLimits(task),
  ].join("\n");
}

/** Who learns a device's answers, and what guarantees stand on besides honest reports. */
function serversOf({ mode, collusion }: Task): { readonly whom: string; readonly ifHonest: string } {
  if (mode === "one-server") return { whom: "the server", ifHonest: "" };
  if (collusion === "one-server") return { whom: "each of the servers", ifHonest: "" };
  return { whom: "the servers", ifHonest: " and an honest server" };
}

/** A device is in one group, so groups cost it nothing; but they divide the devices. */
function describeGroups({ groups, minimumDevices }: Task): string[] {
  if (!groups) return [];
  return [
    `groups ${groups.join(", ")}: all figures below are those of one group; a group of fewer than ${count(minimumDevices)} devices is not released`,
  ];
}

function describeSum({ local: { sum } }: TotalCost): string {
  return sum === undefined ? "" : `(${figure(sum)} with δ = 0)`;
}
