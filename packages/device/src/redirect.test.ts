import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { type Lethe, openLethe } from "../dist/index.js";

const WINDOW_MS = 1000 * EXACT_TASK.ticks * EXACT_TASK.tickSeconds;
const MANY = { perSecond: 1e6, burst: 1e6 };
const TASK: Task = { ...EXACT_TASK, minimumDevices: 1 };
const STATUSES = [301, 302, 303, 307, 308];
const METHODS = ["GET", "POST", "PUT"] as const;
const WHERE = ["the same origin", "another origin"] as const;

interface Request {
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
}

/** Between devices and the service, over real connections. It redirects what `redirect` names. */
interface Front {
  readonly url: string;
  readonly requests: Request[];
  close(): void;
}

let service: TestService;
let front: Front;
let elsewhere: Front;
/** What is redirected, and how. */
let redirect: { readonly method: string; readonly status: number; readonly to: string } | undefined;

beforeAll(async () => {
  service = await startTestService({ enrolment: { rate: MANY }, keysAhead: 150 });
  await createTask(service, TASK);
  front = await startFront();
  elsewhere = await startFront();
  const path = `${service.url}/v1/tasks/${TASK.task}/windows/${service.clock() / WINDOW_MS}/devices`;
  while ((await fetch(path, { method: "POST" })).status !== 201)
    await new Promise((resolve) => setTimeout(resolve, 50));
});
afterAll(async () => {
  front.close();
  elsewhere.close();
  await service.remove();
});
beforeEach(() => {
  redirect = undefined;
  front.requests.length = elsewhere.requests.length = 0;
});

async function startFront(): Promise<Front> {
  const requests: Request[] = [];
  const server: Server = createServer(async (incoming, response) => {
    const { method = "", url = "" } = incoming;
    const body = await bodyOf(incoming);
    requests.push({ method, url, body });
    if (redirect?.method === method && server === first) {
      response.writeHead(redirect.status, { location: redirect.to + url }).end("moved");
      return;
    }
    const headers = new Headers();
    for (const name of ["content-type", "authorization"]) {
      const value = incoming.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const answer = await fetch(service.url + url.replace(/^\/moved/, ""), {
      method,
      headers,
      ...(body.length > 0 && { body: body as Uint8Array<ArrayBuffer> }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(await answer.text());
  });
  first ??= server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
/** The one that devices are given. */
let first: Server | undefined;

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

async function open(clock: () => number): Promise<{ lethe: Lethe; problems: LetheError[] }> {
  const problems: LetheError[] = [];
  const lethe = await openLethe({
    server: front.url,
    task: TASK.task,
    operatorKey: service.operatorKey,
    clock,
    onProblem: (error) => problems.push(error),
  });
  return { lethe, problems };
}

const CASES = METHODS.flatMap((method) =>
  STATUSES.flatMap((status) => WHERE.map((where) => [method, status, where] as const)),
);

describe("a redirect is refused, and the problem names where to", () => {
  it.each(CASES)("%s, %i, to %s", async (method, status, where) => {
    const to = where === "the same origin" ? `${front.url}/moved` : elsewhere.url;
    let now = service.clock();
    redirect = { method, status, to };
    const { lethe, problems } = await open(() => now);
    const counting = async (): Promise<void> => {
      for (let i = 0; i < 100 && lethe.inspect().memory.length === 0; i++) {
        now += 2000;
        await lethe.sendPending();
      }
    };
    if (method === "PUT") {
      await counting();
      problems.length = 0;
      now = service.clock() + WINDOW_MS;
    }
    await lethe.sendPending();
    const [{ code, message } = {}] = problems;
    expect({ code, message }).toEqual({
      code: "redirected",
      message: `${front.url} redirects to ${to}: use the service's own address`,
    });
    const asked = [...front.requests, ...elsewhere.requests].filter((request) => request.method === method);
    expect(asked.map(({ url }) => url.startsWith("/moved"))).toEqual([false]);
    expect(elsewhere.requests).toEqual([]);

    // Got over as soon as it ends, with the same bytes.
    redirect = undefined;
    if (method !== "PUT") {
      await counting();
      expect(lethe.inspect().memory).toHaveLength(1);
    } else {
      await lethe.sendPending();
      const [sent, again] = front.requests.filter((request) => request.method === "PUT");
      expect(again?.url).toBe(sent?.url);
      expect(again?.body.length).toBeGreaterThan(0);
      expect(again?.body).toEqual(sent?.body);
    }
    await lethe.close();
  });
});
