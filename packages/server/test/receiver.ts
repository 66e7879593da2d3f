import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSigned } from "./device.ts";

/** What a receiver got. */
export interface Posted {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly id: string;
  readonly body: string;
  readonly document: { readonly status: string; readonly task: string; readonly window: number };
}

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In the order in which they came, repetitions included. */
  readonly posts: readonly Posted[];
  close(): Promise<void>;
}

/** Listens on a port. `answer` decides what to say to a post: by default 204. */
export async function startReceiver(
  answer: (post: Posted, response: ServerResponse, posts: readonly Posted[]) => void = (_, response) =>
    void response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const posts: Posted[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { method = "", url = "", headers } = request;
    const post = { method, url, headers, id: String(headers["webhook-id"]), body, document: JSON.parse(body) };
    posts.push(post);
    answer(post, response, posts);
  }).listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const listens = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${listens}`,
    port: listens,
    posts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether a post is this operator's, by the rules of Standard Webhooks for `v1a`. */
export function isFrom(operatorKey: string, { headers, body }: Posted): boolean {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  const [version, bytes = ""] = String(signature).split(",");
  const signed = new TextEncoder().encode(`${id}.${at}.${body}`);
  return version === "v1a" && isSigned(operatorKey, signed, Buffer.from(bytes, "base64"));
}
