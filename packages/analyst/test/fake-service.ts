import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server at a free port of this machine until the test is over; its address. */
export async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that answers every request like this. */
export function answering(
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  return listen((_request, response) => response.writeHead(status, { "content-type": type, ...headers }).end(body));
}

/**
 * What a service would answer to each path; a 425 with `window-not-open` if it is a function that returns undefined.
 */
export type Paths = Readonly<Record<string, string | (() => string | undefined)>>;

/**
 * A service that knows these paths, and refuses all others: windows as closed, the rest as unknown; and whoever has not
 * its token, if it has one, but for manifests, which are public. Records what it was asked.
 */
export async function fakeService(
  paths: Paths,
  token?: string,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const url = await listen(({ url: path = "", headers: { authorization } }, response) => {
    asked.push(path);
    const isManifest = /^\/v1\/tasks\/\w+(\?|$)/.test(path);
    if (token !== undefined && authorization !== `Bearer ${token}` && !isManifest) {
      refuse("unauthorized");
      return;
    }
    const known = paths[path];
    const body = typeof known === "function" ? known() : known;
    if (body !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(body);
    else refuse(known ? "window-not-open" : path.includes("/windows/") ? "window-closed" : "unknown-task");
    function refuse(code: string): void {
      response.writeHead(404, { "content-type": "application/problem+json" }).end(JSON.stringify({ code }));
    }
  });
  return { url, asked };
}
