import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { answering, listen } from "../test/fake-service.ts";
import { createTask } from "./admin.ts";
import { ask, askStatus } from "./request.ts";
import { fetchRelease } from "./service.ts";

const PROBLEM = "application/problem+json";

describe("asking a service", () => {
  it("a refusal has the service's code and words, without what a terminal would obey", async () => {
    const body = JSON.stringify({ code: "unknown-task", detail: "there is\u001b[2J no task\n x" });
    await expect(ask(await answering(404, PROBLEM, body), "/")).rejects.toMatchObject({
      code: "unknown-task",
      message: "there is [2J no task  x",
    });
  });

  it.each([
    [500, "service-failed"],
    [503, "unavailable"],
    [404, "bad-role"],
    [418, "bad-answer"],
  ])("an answer %i without a code of its own is %s", async (status, code) => {
    const url = await answering(status, PROBLEM, JSON.stringify({ detail: "the service failed: try again" }));
    await expect(ask(url, "/")).rejects.toMatchObject({
      code,
      message: `the service at ${url} answers ${status}: the service failed: try again`,
    });
  });

  it.each([
    ["6", 6],
    [undefined, 0],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 0],
    ["-1", 0],
  ])("a refusal says when to try again: %s", async (header, retryAfter) => {
    const headers: Record<string, string> = header === undefined ? {} : { "retry-after": header };
    const url = await answering(429, PROBLEM, JSON.stringify({ code: "rate-limited", detail: "wait" }), headers);
    await expect(ask(url, "/")).rejects.toMatchObject({ code: "rate-limited", message: "wait", retryAfter });
  });

  it("a token that is not accepted is named without showing it", async () => {
    const url = await answering(401, PROBLEM, JSON.stringify({ code: "unauthorized", detail: "no" }));
    await expect(ask(url, "/", { token: "0123456789abcdef" })).rejects.toMatchObject({
      code: "unauthorized",
      message: `the service at ${url} refuses this admin token`,
    });
  });

  it("a token that no header can carry is refused without showing it, and without a request", async () => {
    const refused = await ask("http://127.0.0.1:9", "/", { token: "0123456789\nabcdef" }).catch((error) => error);
    expect(refused).toMatchObject({ code: "unauthorized" });
    expect(inspect(refused)).not.toContain("abcdef");
  });

  it("what is not Lethe is recognized as something else", async () => {
    for (const [status, type, body] of [
      [200, "text/html", "<h1>It works!</h1>"],
      [404, "text/html", "<h1>Not found</h1>"],
      [404, PROBLEM, "{"],
      [404, PROBLEM, "null"],
    ] as const) {
      const url = await answering(status, type, body);
      await expect(ask(url, "/")).rejects.toMatchObject({
        code: "bad-answer",
        message: `what answers at ${url} is not a Lethe service: check the address`,
      });
    }
    await expect(fetchRelease(await answering(200, "application/json", "{"), "t", 1)).rejects.toThrow(
      "is not a Lethe service",
    );
  });

  it("nobody who answers is `unreachable`", async () => {
    await expect(ask("http://127.0.0.1:9", "/")).rejects.toMatchObject({
      code: "unreachable",
      message: "no service answers at http://127.0.0.1:9",
    });
  });

  it("a token is never carried on to another address", async () => {
    const seen: string[] = [];
    const url = await listen((request, response) => {
      seen.push(request.url ?? "");
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const task = { version: 1, task: "t" } as Parameters<typeof createTask>[2];
    await expect(createTask(url, "0123456789abcdef", task)).rejects.toMatchObject({ code: "redirected" });
    expect(seen).toEqual(["/v1/tasks"]);
  });

  it.each([301, 302, 303, 307, 308])("a redirect, %i, is refused with its target", async (status) => {
    const url = await answering(status, "application/json", "{}", { location: "https://other.example/v1/tasks?a#b" });
    const refused = {
      code: "redirected",
      message: `${url} redirects to https://other.example: use the service's own address`,
    };
    await expect(ask(url, "/v1/tasks", { token: "0123456789abcdef" })).rejects.toMatchObject(refused);
    await expect(askStatus(url, "/lethe.js")).rejects.toMatchObject(refused);
  });

  it("an answer without end is cut off", async () => {
    const url = await listen((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (response.write(" ".repeat(1_000_000)));
        response.once("drain", more);
      };
      more();
    });
    await expect(ask(url, "/")).rejects.toMatchObject({
      code: "bad-answer",
      message: `the service at ${url} sends more than 64 MB`,
    });
  });
});
