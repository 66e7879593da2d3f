import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that believes Transfer-Encoding and ignores Content-Length beside it: half of what smuggling needs. */
export async function startLaxServer(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createHttpServer({ insecureHTTPParser: true }, (request, response) => {
    asked.push(request.method ?? "");
    request.resume().on("end", () => response.writeHead(request.method === "GET" ? 200 : 404).end(request.url));
  });
  server.on("clientError", (_error, socket) => socket.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
  return { url: await listen(server), asked };
}

/**
 * The other half: a proxy that believes Content-Length alone, passes bytes on as they are, and has one connection to the
 * server for all clients.
 */
export async function startNaiveProxy(service: { readonly url: string }): Promise<{ readonly url: string }> {
  const { hostname, port } = new URL(service.url);
  let upstream: Socket | undefined;
  let answers = "";
  const waiting: ((answer: string) => void)[] = [];
  const next = (answer: string): void => waiting.shift()?.(answer);
  const connectAgain = (): Socket => {
    answers = "";
    const socket = connect(Number(port), hostname).setEncoding("latin1");
    socket.on("data", (chunk) => {
      answers += chunk;
      for (let end = endOf(answers); end !== undefined && end <= answers.length; end = endOf(answers)) {
        next(answers.slice(0, end));
        answers = answers.slice(end);
      }
    });
    socket
      .on("error", () => undefined)
      .on("close", () => {
        if (upstream === socket) upstream = undefined;
        for (const answer of waiting.splice(0)) answer("");
      });
    return socket;
  };
  onTestFinished(() => void upstream?.destroy());
  const server = createServer((client) => {
    let text = "";
    client
      .on("error", () => undefined)
      .setEncoding("latin1")
      .on("data", (chunk) => {
        text += chunk;
        const end = endOf(text);
        if (end === undefined || text.length < end) return;
        const request = text.slice(0, end);
        text = text.slice(end);
        upstream ??= connectAgain();
        waiting.push((answer) => (answer === "" ? client.destroy() : client.write(answer, "latin1")));
        upstream.write(request, "latin1");
      });
  });
  return { url: await listen(server) };
}

/** Where the first message ends, by Content-Length alone; undefined if its head is not complete. */
function endOf(text: string): number | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  return head + 4 + Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
}
