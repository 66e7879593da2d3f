import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A connection on which anything can be said, HTTP or not. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything that was answered until the other side closed. */
  readonly answered: Promise<string>;
}

export function openConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    const answered = new Promise<string>((done) => {
      socket.setEncoding("latin1").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => done(text));
    });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      // The other side may cut the connection: what it said until then is the answer.
      socket.on("error", () => undefined);
      resolve({ socket, answered });
    });
  });
}

/**
 * Sends bytes as they are and reads until the other side closes, or until nothing came for `patience` milliseconds
 * after the last byte; for the first one it waits longer, because a busy service takes its time.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  patience = 2000,
  patienceAtFirst = 60_000,
): Promise<string> {
  const { socket, answered } = await openConnection(url);
  socket.write(bytes);
  socket.setTimeout(patienceAtFirst, () => socket.destroy());
  socket.once("data", () => socket.setTimeout(patience));
  return answered;
}

/** The last response in what was answered. */
export function parseResponse(text: string): RawResponse {
  const start = text.lastIndexOf("HTTP/1.1 ");
  const [head = "", ...rest] = text.slice(start).split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: rest.join("\r\n\r\n") };
}

/** One request, with `Connection: close`, of which every header is given. */
export async function requestRaw(
  url: string,
  { method, path, headers = {}, body = "" }: RawRequest,
): Promise<RawResponse> {
  const head = [`${method} ${path} HTTP/1.1`, "Host: test", "Connection: close"];
  const lines = [...head, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  const bytes = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
  return parseResponse(await sendRaw(url, bytes));
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}
