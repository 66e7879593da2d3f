import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { runFleet } from "./fleet.ts";

async function listen(status: number, location?: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(status, location === undefined ? {} : { location }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it.each([301, 302, 307, 308])("a fleet follows no redirect: %i", async (status) => {
  const elsewhere = await listen(201);
  const { url, seen } = await listen(status, `${elsewhere.url}/v1/tasks/t`);
  await expect(runFleet({ server: url, task: "t", devices: 1, rate: 1 })).rejects.toMatchObject({
    code: "redirected",
    message: `${url} redirects to ${elsewhere.url}: use the service's own address`,
  });
  expect([seen, elsewhere.seen]).toEqual([["/v1/tasks/t"], []]);
});
