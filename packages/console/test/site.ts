import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const SITE = join(import.meta.dirname, "..", "dist", "site");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'";

/** The console before a service: its files at `/`, and everything below `/v1` from the service. */
export interface Site {
  readonly url: string;
  close(): void;
}

/** Serves the console of a service that does not do so itself, and says `info` about it. */
export async function serveSite(service: () => string, info: () => object): Promise<Site> {
  const server = createServer(async ({ url = "/" }, response) => {
    const send = (status: number, type: string, body: string | Buffer): void => {
      response.writeHead(status, { "content-type": type, "content-security-policy": POLICY }).end(body);
    };
    if (url === "/v1/console")
      return send(200, "application/json", JSON.stringify({ isAdmin: false, hasDemonstration: false, ...info() }));
    if (url.startsWith("/v1/")) {
      const answer = await fetch(service() + url);
      return send(answer.status, answer.headers.get("content-type") ?? "", await answer.text());
    }
    const path = url === "/" ? "index.html" : url.slice(1);
    return send(200, TYPES[extname(path)] ?? "", readFileSync(join(SITE, path)));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
