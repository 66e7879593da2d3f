import type { Manifest, Task } from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { SHARED_TASK } from "../../test/two-servers.ts";
import type { Queryable } from "../storage/database.ts";
import type { TaskRegistry, TaskVersion } from "../storage/tasks.ts";
import { shortened } from "../tasks/development.ts";
import { requireAgreed, requireNoDevelopmentTask } from "./agreed-task.ts";

const TASK: Task = { ...SHARED_TASK, tickSeconds: 300, ticks: 288, minimumDevices: 1000 };
const SAYS = "the helper has agreed to a version 1 of shared that says something else: ";

function refusal(agreement: Task, task: Task, isDevelopment = false): string {
  try {
    requireAgreed(agreement, task, isDevelopment);
  } catch (error) {
    return (error as Error).message.replace(SAYS, "… ");
  }
  return "agreed";
}

describe("a task that a leader proposes", () => {
  it("is what was agreed to, as the helper runs it", () => {
    expect(refusal(TASK, TASK)).toBe("agreed");
    expect(refusal(TASK, shortened(TASK), true)).toBe("agreed");
  });

  it("else the first field that differs is named, with both values", () => {
    const metrics = TASK.metrics.map((metric, i) => (i === 1 ? { ...metric, sigma: 7 } : metric));
    expect(refusal(TASK, { ...TASK, minimumDevices: 5 })).toBe(
      "… minimumDevices is 1000 at the helper and 5 at the leader",
    );
    expect(refusal(TASK, { ...TASK, metrics: metrics as Task["metrics"] })).toBe(
      "… metrics[1].sigma is 0.05 at the helper and 7 at the leader",
    );
    expect(refusal(TASK, { ...TASK, metrics: TASK.metrics.slice(0, 3) })).toMatch(
      /^… metrics\[3\] is \{"name":"average",.{42} at the helper and missing at the leader$/,
    );
  });

  it("is refused by name if only one of the servers is in development", () => {
    const [long, short] = ["300", "1"];
    const says = (helper?: string, leader?: string): string =>
      `… tickSeconds is ${helper} at the helper and ${leader} at the leader: one of you runs with --dev`;
    expect(refusal(TASK, shortened(TASK))).toBe(says(long, short));
    expect(refusal(TASK, TASK, true)).toBe(says(short, long));
    expect(refusal(TASK, { ...shortened(TASK), mode: "one-server" })).not.toContain("--dev");
  });
});

it("a helper does not go on in production with a task that was made in development", async () => {
  const database: Queryable = { query: async <Row>() => [{ task: JSON.stringify(TASK) }] as Row[] };
  const start = (task: Task): Promise<void> => {
    const version = { manifest: { ...task, fromWindow: 0, servers: [] } as unknown as Manifest } as TaskVersion;
    const tasks = { names: () => ["shared"], versions: () => [version] } as unknown as TaskRegistry;
    return requireNoDevelopmentTask(database, tasks);
  };
  await start(TASK);
  await expect(start(shortened(TASK))).rejects.toThrow("version 1 of shared was made with --dev");
});
