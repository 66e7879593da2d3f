import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Randomness, uniformBelow } from "@lethe/core/randomness";

const FATES = ["lostBefore", "lostAfter", "duplicated", "delayed", "reordered"] as const;
type Fate = (typeof FATES)[number];

/** The network between leader and helper, on a bad day. */
export interface FaultyLink {
  readonly url: string;
  /** What became of the requests so far; the others went through. */
  readonly fates: Readonly<Record<Fate | "passed", number>>;
  close(): Promise<void>;
}

const LONGEST_DELAY_MS = 400;

/** Deals the same cards again and again, shuffled each time: in any order, and all of them soon. */
export function createDealer<Card>(cards: readonly Card[], random: Randomness): () => Card {
  let left: Card[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    return left.splice(uniformBelow(random, left.length), 1)[0] as Card;
  };
}

/**
 * Passes requests on to where `target` is at that moment. Every third of them has a fate: the connection is cut before
 * or after it was handled, or it comes twice, late, or after the next one.
 */
export async function startFaultyLink(target: () => string, random: Randomness): Promise<FaultyLink> {
  const fates = { lostBefore: 0, lostAfter: 0, duplicated: 0, delayed: 0, reordered: 0, passed: 0 };
  const deal = createDealer(FATES, random);
  const delay = (): Promise<void> => sleep(uniformBelow(random, LONGEST_DELAY_MS));
  let overtaken: (() => void)[] = [];
  const lingering = new Set<Promise<unknown>>();

  async function pass(request: IncomingMessage, body: Buffer): Promise<{ status: number; body: Buffer }> {
    const response = await fetch(target() + request.url, {
      method: "POST",
      headers: { "content-type": request.headers["content-type"] ?? "" },
      body: new Uint8Array(body),
    });
    const answer = { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
    for (const proceed of overtaken.splice(0)) proceed();
    return answer;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const fate = uniformBelow(random, 3) === 0 ? deal() : undefined;
    fates[fate ?? "passed"]++;
    if (fate === "lostBefore") throw new Error("lost");
    if (fate === "delayed") await delay();
    if (fate === "reordered") await Promise.race([new Promise<void>((resolve) => overtaken.push(resolve)), delay()]);
    if (fate === "duplicated") {
      const again = delay().then(() => pass(request, body));
      lingering.add(again.catch(() => undefined).finally(() => lingering.delete(again)));
    }
    const answer = await pass(request, body);
    if (fate === "lostAfter") throw new Error("lost");
    response.writeHead(answer.status, { "content-type": "application/octet-stream" }).end(answer.body);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      overtaken = [];
      await Promise.all([closed, ...lingering]);
    },
  };
}
