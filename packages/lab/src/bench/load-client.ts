import { connect, type Socket } from "node:net";

/**
 * What a client process sends. The client costs little beside the server that it loads: it prepares all requests, and
 * sends them over raw connections that stay open, one request at a time on each. Its parent sends a `Load`; it answers
 * with a `LoadResult`.
 */
export type Load = (Uploads | Enrolments) & {
  /** The ports of the processes that share the load. */
  readonly ports: readonly number[];
  readonly connections: number;
};

/** Reports of devices. */
export interface Uploads {
  readonly kind: "uploads";
  /** The path and the token of each PUT. */
  readonly requests: readonly { readonly path: string; readonly token: string }[];
  /** The size of every body: `header`, then random bytes. */
  readonly bytes: number;
  readonly header: Uint8Array;
}

/** Devices that enrol. One that finds no keys asks again after 20 ms. */
export interface Enrolments {
  readonly kind: "enrolments";
  readonly path: string;
  readonly count: number;
}

/** How it went. */
export interface LoadResult {
  readonly seconds: number;
  /** Answers by status, without those that were asked again. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Of the answers with status 201 that have one. */
  readonly bodies: readonly string[];
}

const NO_KEYS_RETRY_MS = 20;

process.on("message", (load: Load) => {
  void run(load).then((result) => process.send?.(result, () => process.disconnect()));
});

async function run(load: Load): Promise<LoadResult> {
  const requests = prepareAll(load);
  const answers: Answer[] = [];
  const portOf = (i: number): number => load.ports[i % load.ports.length] as number;
  const sockets = await Promise.all(Array.from({ length: load.connections }, (_, i) => open(portOf(i))));
  const start = performance.now();
  await Promise.all(sockets.map((socket) => sendAll(socket, requests, answers)));
  const seconds = (performance.now() - start) / 1000;
  for (const socket of sockets) socket.destroy();
  const statuses: Record<string, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const created = answers.filter(({ status, body }) => status === "201" && body.length > 0);
  return { seconds, statuses, bodies: created.map(({ body }) => body.toString()) };
}

function prepareAll(load: Load): Iterator<Uint8Array> {
  if (load.kind === "uploads") return load.requests.map((request) => prepare(load, request)).values();
  const request = Buffer.from(`POST ${load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`);
  return Array.from({ length: load.count }, () => request).values();
}

function prepare({ bytes, header }: Uploads, { path, token }: Uploads["requests"][number]): Uint8Array {
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

interface Answer {
  readonly status: string;
  readonly body: Buffer;
}

/** Sends requests one after another. */
function sendAll(socket: Socket, requests: Iterator<Uint8Array>, answers: Answer[]): Promise<void> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    let request: Uint8Array;
    const send = (): void => {
      const { value, done } = requests.next();
      if (done) resolve();
      else {
        request = value;
        socket.write(value);
      }
    };
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = answerIn(received);
      if (!answer) return;
      received = Buffer.alloc(0);
      if (answer.status === "503") setTimeout(() => socket.write(request), NO_KEYS_RETRY_MS);
      else {
        answers.push(answer);
        send();
      }
    });
    send();
  });
}

/** An answer, once all of it is there. */
function answerIn(received: Buffer): Answer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = received.toString("latin1", 0, end);
  const body = received.subarray(end + 4);
  return body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    ? undefined
    : { status: head.slice(9, 12), body };
}
