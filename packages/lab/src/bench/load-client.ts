import { connect, type Socket } from "node:net";

/**
 * What a client process sends. The client costs little beside the server that it loads: it prepares all requests, and
 * sends them over raw connections that stay open, one request at a time on each. Its parent sends a `Load`; it answers
 * with a `LoadResult`.
 */
export interface Load {
  /** The ports of the processes that share the load. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** The path and the token of each PUT. */
  readonly requests: readonly { readonly path: string; readonly token: string }[];
  /** The size of every body: `header`, then random bytes. */
  readonly bytes: number;
  readonly header: Uint8Array;
}

/** How it went. */
export interface LoadResult {
  readonly seconds: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

process.on("message", (load: Load) => {
  void run(load).then((result) => process.send?.(result, () => process.disconnect()));
});

async function run(load: Load): Promise<LoadResult> {
  const requests = load.requests.map((request) => prepare(load, request)).values();
  const statuses: Record<string, number> = {};
  const portOf = (i: number): number => load.ports[i % load.ports.length] as number;
  const sockets = await Promise.all(Array.from({ length: load.connections }, (_, i) => open(portOf(i))));
  const start = performance.now();
  await Promise.all(sockets.map((socket) => sendAll(socket, requests, statuses)));
  const seconds = (performance.now() - start) / 1000;
  for (const socket of sockets) socket.destroy();
  return { seconds, statuses };
}

function prepare({ bytes, header }: Load, { path, token }: Load["requests"][number]): Uint8Array {
  const body = new Uint8Array(bytes);
  crypto.getRandomValues(body);
  body.set(header);
  const head =
    `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/octet-stream\r\nContent-Length: ${bytes}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Sends requests one after another. Answers have no body, or a short one that comes with the head. */
function sendAll(socket: Socket, requests: Iterator<Uint8Array>, statuses: Record<string, number>): Promise<void> {
  return new Promise((resolve) => {
    let answer = "";
    const send = (): void => {
      const { value, done } = requests.next();
      if (done) resolve();
      else socket.write(value);
    };
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      if (!answer.includes("\r\n\r\n")) return;
      const status = answer.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = "";
      send();
    });
    send();
  });
}
