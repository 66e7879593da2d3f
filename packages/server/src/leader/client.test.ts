import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createHelperClient, HelperUnavailable } from "./client.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that notes the paths it is asked for, and answers everything with a redirect, if there is where to. */
async function listen(status: number, location?: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(status, location === undefined ? {} : { location }).end();
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it.each([301, 302, 303, 307, 308])("what a leader sends follows no redirect: %i", async (status) => {
  const elsewhere = await listen(200);
  const helper = await listen(status, `${elsewhere.url}/v1/peer/task/t/1`);
  const client = createHelperClient({ url: helper.url, secret: "s".repeat(32), operatorKey: "ed25519:" }, Date.now);
  const signed = { manifest: "{}", signature: new Uint8Array(64) };
  const refused: unknown = await client.propose(signed, "t", 1).catch((error) => error);
  expect(refused).toBeInstanceOf(HelperUnavailable);
  expect((refused as Error).message).toBe(
    `the helper at ${helper.url} redirects to ${elsewhere.url}: give the leader the helper's own address`,
  );
  expect([helper.seen, elsewhere.seen]).toEqual([["/v1/peer/task/t/1"], []]);
});
