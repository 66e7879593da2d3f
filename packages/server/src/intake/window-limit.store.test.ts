import { windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askToEnrol } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { expectProblem } from "../../test/problem.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";

let service: TestService;
let window: number;
beforeAll(async () => {
  service = await startTestService({ trustProxy: true, enrolment: { mostPerWindow: 5 } });
  await createTask(service, EXACT_TASK);
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});
afterAll(() => service?.remove());

let addresses = 0;
/** Each time from another address, once the window's keys are ready. */
function ask(of: number): Promise<Response> {
  const headers = { "x-forwarded-for": `198.51.100.${addresses++}` };
  return eventually(async () => {
    const response = await askToEnrol(service, EXACT_TASK.task, of, { headers });
    return response.status === 503 ? undefined : response;
  });
}

it("a window takes as many devices as the operator says, from all addresses together, and the next as many again", async () => {
  for (const of of [window, window + 1]) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(of)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(15);
    for (const response of refused) {
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await expectProblem(response, "rate-limited")).detail).toContain("at most 5 devices enrol in a window");
    }
  }
});

it("what a window has is remembered over a restart, and a higher limit lets more in", async () => {
  await service.restart();
  await expectProblem(await ask(window), "rate-limited");
  await service.restart({ enrolment: { mostPerWindow: 6 } });
  expect((await ask(window)).status).toBe(201);
  await expectProblem(await ask(window), "rate-limited");
});
