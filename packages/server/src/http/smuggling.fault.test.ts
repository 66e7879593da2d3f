import { setTimeout as sleep } from "node:timers/promises";
import { windowAt } from "@lethe/core/message";
import { afterAll, beforeAll, expect, it } from "vitest";
import { requestCounts } from "../../test/metrics.ts";
import { startLaxServer, startNaiveProxy } from "../../test/naive-servers.ts";
import { expectProblem } from "../../test/problem.ts";
import { parseResponse, requestRaw, sendRaw } from "../../test/raw-http.ts";
import { areProxiesInstalled, type ProxyName, startProxy } from "../../test/reverse-proxies.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import { type Ambiguous, ambiguousMessages } from "../../test/smuggled-requests.ts";

const NAMES = ["exact", "twin"];
/** After the last byte of an answer: a proxy that waits for more bytes answers nothing else. */
const PATIENCE_MS = 150;

let service: TestService;
let messages: readonly Ambiguous[];
beforeAll(async () => {
  service = await startTestService({ trustProxy: true, keysAhead: 100 });
  for (const task of NAMES) await createTask(service, { ...EXACT_TASK, task });
  const window = windowAt(EXACT_TASK, service.clock() / 1000);
  const inner = "DELETE /v1/tasks/smuggled HTTP/1.1\r\nHost: test\r\n\r\n";
  messages = ambiguousMessages(`/v1/tasks/exact/windows/${window}/devices`, inner);
});
afterAll(() => service?.remove());

/** Where messages go, and how often the server behind has answered the request inside. */
interface Front {
  readonly url: string;
  readonly innerAnswered: () => Promise<number>;
}

async function innerAtService(): Promise<number> {
  const counts = await requestCounts(service);
  return counts.reduce((sum, { method, count }) => sum + (method === "DELETE" ? count : 0), 0);
}

const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/**
 * Sends a message, then lets others ask. Smuggled is what the server has answered and the front has not passed on to the
 * client that sent the message, and what makes others get answers that are not theirs.
 */
async function send(
  front: Front,
  { text }: Ambiguous,
): Promise<{ answer: string; statuses: number[]; smuggled: number; mixedUp: string[] }> {
  const before = await front.innerAnswered();
  const answer = await sendRaw(front.url, Buffer.from(text, "latin1"), PATIENCE_MS, 1000);
  const mixedUp: string[] = [];
  for (const name of NAMES) {
    const theirs = await fetch(`${front.url}/v1/tasks/${name}`);
    if (theirs.status !== 200 || !(await theirs.text()).includes(`\\"task\\":\\"${name}\\"`))
      mixedUp.push(`${name}: ${theirs.status}`);
  }
  const statuses = statusesIn(answer);
  const smuggled = (await front.innerAnswered()) - before - statuses.filter((status) => status === 404).length;
  return { answer, statuses, smuggled, mixedUp };
}

it("straight: a message that two servers may read differently is refused as a whole, and ends the connection", async () => {
  const front: Front = { url: service.url, innerAnswered: innerAtService };
  for (const message of messages) {
    const { what } = message;
    const { answer, statuses, smuggled, mixedUp } = await send(front, message);
    expect({ what, smuggled, mixedUp }).toEqual({ what, smuggled: 0, mixedUp: [] });
    if (message.requests === 0) {
      expect([what, ...statuses]).toEqual([what, 400]);
      const response = parseResponse(answer);
      await expectProblem(response, "bad-encoding");
      expect([what, response.headers.get("connection")]).toEqual([what, "close"]);
    } else {
      expect([what, ...statuses]).toEqual([what, ...(message.requests === 2 ? [201, 404] : [400])]);
    }
  }
});

it.skipIf(!areProxiesInstalled).each(["nginx", "haproxy"] as ProxyName[])(
  "%s, as in examples/deploy, and the service agree on where every message ends: nothing is smuggled, nobody gets another's answer",
  async (name) => {
    const front: Front = { ...(await startProxy(name, service)), innerAnswered: innerAtService };
    const table: Record<string, string> = {};
    for (const message of messages) {
      const { statuses, smuggled, mixedUp } = await send(front, message);
      expect({ what: message.what, smuggled, mixedUp }).toEqual({ what: message.what, smuggled: 0, mixedUp: [] });
      const kind = statuses.join(",");
      table[kind] = `${table[kind] ?? ""}${table[kind] ? "; " : ""}${message.what}`;
    }
    console.log(JSON.stringify({ name, table }));
  },
);

it("through a proxy that knows Content-Length only, a lax server is smuggled to, and this service is not", async () => {
  const lax = await startLaxServer();
  const inFrontOfLax = await startNaiveProxy(lax);
  const innerAtLax = async (): Promise<number> => lax.asked.filter((method) => method === "DELETE").length;
  const inFront: Front = { ...(await startNaiveProxy(service)), innerAnswered: innerAtService };
  const found: string[] = [];
  for (const message of messages.filter(({ what }) => what === "CL.TE" || what === "TE.TE: twice")) {
    const before = await innerAtLax();
    await sendRaw(inFrontOfLax.url, Buffer.from(message.text, "latin1"), PATIENCE_MS, 1000);
    await sleep(PATIENCE_MS);
    if ((await innerAtLax()) > before) found.push(message.what);
    // It closes its one connection, which is all that a naive proxy's clients notice.
    const inner = await innerAtService();
    await sendRaw(inFront.url, Buffer.from(message.text, "latin1"), PATIENCE_MS, 1000);
    expect(await innerAtService()).toBe(inner);
  }
  expect(found).toContain("CL.TE");
});

it.skipIf(!areProxiesInstalled).each(["nginx", "haproxy"] as ProxyName[])(
  "through %s, huge and compressed bodies are refused, and nothing but /v1/ is there",
  async (name) => {
    const { url } = await startProxy(name, service);
    const huge = await requestRaw(url, {
      method: "POST",
      path: "/v1/tasks/exact/windows/1/devices",
      headers: { "content-type": "application/json", "content-length": "100000000000" },
    });
    expect(huge.status).toBe(413);
    const coded = await fetch(`${url}/v1/tasks/exact/windows/1/devices`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: new Uint8Array(100),
    });
    expect(coded.status).toBe(415);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(`${url}/v1/tasks/exact`)).status).toBe(200);
  },
);
