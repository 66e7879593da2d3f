import type { Task } from "@lethe/core/message";

/** Asks a service of our own to run a task. */
export async function createTask(url: string, adminToken: string, task: Task): Promise<void> {
  const { status } = await fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(task),
    // The token goes nowhere else.
    redirect: "manual",
  });
  if (status !== 201) throw new Error(`the task ${task.task} was refused with ${status}`);
}
