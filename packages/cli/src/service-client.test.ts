import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { ask, fetchRelease } from "./service-client.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(answer: RequestListener): Promise<string> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** What a service, or whatever is at its address, answers to everything. */
function answering(status: number, type: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  return listen((_request, response) => response.writeHead(status, { "content-type": type, ...headers }).end(body));
}

const PROBLEM = "application/problem+json";

describe("asking a service", () => {
  it("a refusal is told in its words, without what a terminal would obey", async () => {
    const body = JSON.stringify({ code: "unknown-task", detail: "there is\u001b[2J no task\n x" });
    await expect(ask(await answering(404, PROBLEM, body), "/")).rejects.toMatchObject({
      code: "unknown-task",
      message: "there is [2J no task  x",
    });
  });

  it("a failure of the service is not the user's: exit code 1", async () => {
    const url = await answering(500, PROBLEM, JSON.stringify({ detail: "the service failed: try again" }));
    await expect(ask(url, "/")).rejects.toMatchObject({
      exitCode: 1,
      message: `the service at ${url} answers 500: the service failed: try again`,
    });
  });

  it("what is not Lethe is told to be something else", async () => {
    for (const [status, type, body] of [
      [200, "text/html", "<h1>It works!</h1>"],
      [404, "text/html", "<h1>Not found</h1>"],
      [404, PROBLEM, "{"],
    ] as const) {
      const url = await answering(status, type, body);
      await expect(ask(url, "/")).rejects.toMatchObject({
        exitCode: 2,
        message: `what answers at ${url} is not a Lethe service: give its address with --server`,
      });
    }
    await expect(fetchRelease(await answering(200, "application/json", "{"), "t", 1)).rejects.toThrow(
      "is not a Lethe service",
    );
  });

  it("a token is never carried on to another address", async () => {
    const seen: string[] = [];
    const url = await listen((request, response) => {
      seen.push(request.url ?? "");
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    await expect(ask(url, "/v1/tasks", { token: "0123456789abcdef" })).rejects.toThrow("is not a Lethe service");
    expect(seen).toEqual(["/v1/tasks"]);
  });

  it.each([301, 302, 303, 307, 308])("a redirect, %i, is refused with its target", async (status) => {
    const url = await answering(status, "application/json", "{}", { location: "https://other.example/v1/tasks?a#b" });
    await expect(ask(url, "/v1/tasks", { token: "0123456789abcdef" })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`${url} is not a Lethe service: it redirects to https://other.example,`),
    });
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
    await expect(ask(url, "/")).rejects.toThrow("sends more than 64 MB");
  });
});
