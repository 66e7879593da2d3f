import type { Operations, ServiceInfo } from "@lethe/core/message";
import { describe, expect, it } from "vitest";
import { answering, listen } from "../test/fake-service.ts";
import { fetchOperations, fetchServiceInfo } from "./operations.ts";

const INFO: ServiceInfo = {
  ...{ version: "0.1.0", role: "all", now: 1000.5, privateResults: false, isAdmin: false, hasDemonstration: false },
};
const OPERATIONS: Operations = {
  ...{ now: 1000.5, role: "leader", version: "0.1.0", ready: "unreachable: the helper", clockInDoubt: false },
  backlog: { reports: 1, keys: 2, windows: 0 },
  disk: { freeBytes: 1e9, isLow: false },
  helper: { url: "https://helper.example", answers: false, detail: "no answer within 2 s" },
  tasks: [
    {
      ...{ task: "editor-health", version: 1, windowSeconds: 60, nextRelease: { window: 7, at: 480 } },
      windows: [
        {
          ...{ task: "editor-health", version: 1, window: 7, state: "grace", from: 420, to: 480, closes: 490 },
          ...{ enrolled: 5, received: 3, minimumDevices: 2, groups: ["stable"], refused: { "window-closed": 1 } },
        },
      ],
    },
  ],
};

const JSON_TYPE = "application/json";

describe("how a service is", () => {
  it("is read as the service says it, whatever of it there is", async () => {
    expect(await fetchServiceInfo(await answering(200, JSON_TYPE, JSON.stringify(INFO)))).toEqual(INFO);
    const url = await answering(200, JSON_TYPE, JSON.stringify(OPERATIONS));
    expect(await fetchOperations(url, { token: "0123456789abcdef" })).toEqual(OPERATIONS);
    const { backlog: _, disk: __, helper: ___, ...least } = { ...OPERATIONS, ready: true as const, tasks: [] };
    expect(await fetchOperations(await answering(200, JSON_TYPE, JSON.stringify(least)))).toEqual(least);
  });

  it.each([
    [{ ...OPERATIONS, ready: false }, "ready is a text"],
    [{ ...OPERATIONS, clockInDoubt: "no" }, "clockInDoubt is true or false"],
    [{ ...OPERATIONS, role: "boss" }, "role is one of all, intake, tally, leader, helper"],
    [{ ...OPERATIONS, backlog: { reports: -1, windows: 0 } }, "backlog.reports is a whole number"],
    [{ ...OPERATIONS, tasks: [{ ...OPERATIONS.tasks[0], windows: [{ window: 7 }] }] }, "tasks[0].windows[0].task"],
    [{ ...OPERATIONS, more: 1 }, "more is not a field"],
    [{}, "now is missing"],
  ])("is refused if the answer is something else: %#", async (answer, why) => {
    const url = await answering(200, JSON_TYPE, JSON.stringify(answer));
    await expect(fetchOperations(url)).rejects.toMatchObject({
      code: "bad-encoding",
      message: expect.stringContaining(why),
    });
  });

  it("is asked with the token in a header, and without one if there is none", async () => {
    const asked: unknown[] = [];
    const url = await listen(({ url: path, headers: { authorization } }, response) => {
      asked.push([path, authorization]);
      response
        .writeHead(200, { "content-type": JSON_TYPE })
        .end(JSON.stringify(path === "/v1/console" ? INFO : OPERATIONS));
    });
    await fetchServiceInfo(url);
    await fetchServiceInfo(url, { token: "0123456789abcdef" });
    await fetchOperations(url, { token: "0123456789abcdef" });
    expect(asked).toEqual([
      ["/v1/console", undefined],
      ["/v1/console", "Bearer 0123456789abcdef"],
      ["/v1/operations", "Bearer 0123456789abcdef"],
    ]);
  });
});
