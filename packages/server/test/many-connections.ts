import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Connections to a service that a client holds open. */
export interface Connections {
  /** How many were opened. */
  readonly opened: number;
  /** How many the service has closed. */
  closed(): number;
  /** The text that the service has sent on all of them. */
  answered(): string;
}

/** Connecting many at once would fill the system's queue. */
const AT_ONCE = 200;

/** Opens connections, and sends something on each. They end with the test. */
export async function openMany(
  { url }: { readonly url: string },
  count: number,
  bytesOf: (i: number) => string | Uint8Array = () => "",
): Promise<Connections> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  let closed = 0;
  let text = "";
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const open = (i: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.once("error", reject).once("connect", () => {
        socket.removeListener("error", reject).on("error", () => undefined);
        socket.write(bytesOf(i));
        resolve();
      });
      socket.setEncoding("latin1").on("data", (chunk) => {
        if (text.length < 1e6) text += chunk;
      });
      socket.on("close", () => closed++);
    });
  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, j) => open(i + j)));
  }
  return { opened: count, closed: () => closed, answered: () => text };
}

/** The memory of a process, in megabytes. */
export function memoryOf(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000);
}
