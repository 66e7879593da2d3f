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
  /**
   * Requests arrive at random times with this mean rate, a Poisson process, whether earlier ones are answered or not. If
   * absent, each connection sends its next request when the last is answered.
   */
  readonly perSecond?: number;
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
  /**
   * Milliseconds from the moment when a request was due until its answer, in no particular order. A request that waits
   * for a free connection is waiting: its time counts.
   */
  readonly latencies: readonly number[];
  /** Bytes on all connections: of requests, and of answers. */
  readonly sent: number;
  readonly received: number;
}

const NO_KEYS_RETRY_MS = 20;

process.on("message", (load: Load) => {
  void run(load).then((result) => process.send?.(result, () => process.disconnect()));
});

async function run(load: Load): Promise<LoadResult> {
  const requests = prepareAll(load);
  const portOf = (i: number): number => load.ports[i % load.ports.length] as number;
  const connections = await Promise.all(Array.from({ length: load.connections }, (_, i) => open(portOf(i))));
  const start = performance.now();
  const answers = await (load.perSecond === undefined
    ? oneAfterAnother(connections, requests)
    : asTheyArrive(connections, requests, load.perSecond));
  const seconds = (performance.now() - start) / 1000;
  for (const { socket } of connections) socket.destroy();
  const statuses: Record<string, number> = {};
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  const created = answers.filter(({ status, body }) => status === "201" && body.length > 0);
  const total = (of: "bytesWritten" | "bytesRead"): number =>
    connections.reduce((sum, { socket }) => sum + socket[of], 0);
  return {
    ...{ seconds, statuses, bodies: created.map(({ body }) => body.toString()) },
    latencies: answers.map(({ milliseconds }) => milliseconds),
    sent: total("bytesWritten"),
    received: total("bytesRead"),
  };
}

/** As fast as they are answered. */
async function oneAfterAnother(
  connections: readonly Connection[],
  requests: readonly Uint8Array[],
): Promise<TimedAnswer[]> {
  const answers: TimedAnswer[] = [];
  const left = requests.values();
  await Promise.all(
    connections.map(async ({ ask }) => {
      for (const request of left) {
        const start = performance.now();
        const answer = await ask(request);
        answers.push({ ...answer, milliseconds: performance.now() - start });
      }
    }),
  );
  return answers;
}

/** At the times of a Poisson process. All requests that are due are sent, at the earliest when a connection is free. */
async function asTheyArrive(
  connections: readonly Connection[],
  requests: readonly Uint8Array[],
  perSecond: number,
): Promise<TimedAnswer[]> {
  let at = performance.now();
  const arrivals = requests.map((request) => {
    at += (-1000 * Math.log(1 - Math.random())) / perSecond;
    return { request, at };
  });
  const answers: TimedAnswer[] = [];
  const left = arrivals.values();
  await Promise.all(
    connections.map(async ({ ask }) => {
      for (const arrival of left) {
        await until(arrival.at);
        const answer = await ask(arrival.request);
        answers.push({ ...answer, milliseconds: performance.now() - arrival.at });
      }
    }),
  );
  return answers;
}

async function until(at: number): Promise<void> {
  const wait = at - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}

function prepareAll(load: Load): Uint8Array[] {
  if (load.kind === "uploads") return load.requests.map((request) => prepare(load, request));
  const request = Buffer.from(`POST ${load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`);
  return Array.from({ length: load.count }, () => request);
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

interface Answer {
  readonly status: string;
  readonly body: Buffer;
}

interface TimedAnswer extends Answer {
  readonly milliseconds: number;
}

interface Connection {
  readonly socket: Socket;
  /** Sends a request, one at a time, and again while the answer is 503. */
  ask(request: Uint8Array): Promise<Answer>;
}

function open(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve({ socket, ask }));
    let received: Buffer = Buffer.alloc(0);
    let request: Uint8Array;
    let onAnswer: (answer: Answer) => void;
    const ask = (next: Uint8Array): Promise<Answer> =>
      new Promise((answered) => {
        request = next;
        onAnswer = answered;
        socket.write(next);
      });
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = answerIn(received);
      if (!answer) return;
      received = Buffer.alloc(0);
      if (answer.status === "503") setTimeout(() => socket.write(request), NO_KEYS_RETRY_MS);
      else onAnswer(answer);
    });
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
