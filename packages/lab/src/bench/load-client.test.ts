import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { send } from "../../dist/bench/service-load.js";

const BODY = 100;
const uploads = (count: number) => ({
  ...{ kind: "uploads" as const, bytes: BODY, header: new Uint8Array(2) },
  requests: Array.from({ length: count }, (_, i) => ({ path: `/${i}`, token: "x" })),
});

async function startServer(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it("requests that arrive while the service stands still count with all the time that they waited", async () => {
  let asked = 0;
  let stopped: Promise<unknown> | undefined;
  const port = await startServer(async (request, response) => {
    request.resume();
    // The service stands still for a second, for everybody.
    if (++asked === 50) stopped = new Promise((resolve) => setTimeout(resolve, 1000));
    await stopped;
    response.writeHead(201, { "content-length": 0 }).end();
  });
  const load = { ...uploads(300), ports: [port], connections: 4 };
  const { latencies, statuses } = await send({ ...load, perSecond: 200 });
  expect(statuses).toEqual({ 201: 300 });
  // About 200 arrive in that second, and wait for 500 ms on average. If a request were sent only when the one before is
  // answered, four would.
  expect(latencies.filter((milliseconds) => milliseconds > 100).length).toBeGreaterThan(100);
  asked = 0;
  stopped = undefined;
  const { latencies: closed } = await send(load);
  expect(closed.filter((milliseconds) => milliseconds > 900)).toHaveLength(4);
});

it("arrivals are as frequent as asked for, and random", async () => {
  const times: number[] = [];
  const port = await startServer((request, response) => {
    times.push(performance.now());
    request.resume();
    response.writeHead(201, { "content-length": 0 }).end();
  });
  const { seconds, sent, received } = await send({ ...uploads(400), ports: [port], connections: 64, perSecond: 200 });
  // 400 arrivals take 2 s, with a standard deviation of 0.1 s; a busy machine only adds to it.
  expect(seconds).toBeGreaterThan(1.4);
  expect(sent).toBeGreaterThan(400 * BODY);
  expect(received).toBeGreaterThan(400 * 10);
  const gaps = times.slice(1).map((at, i) => at - (times[i] as number));
  // Of exponential gaps, 1 − 1/e are shorter than the mean; of equal ones, about half would be.
  expect(gaps.filter((gap) => gap < 5).length / gaps.length).toBeGreaterThan(0.55);
});
