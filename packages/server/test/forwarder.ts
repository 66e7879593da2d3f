import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands for the virtual address that a failover moves from one server to another. */
export interface Forwarder {
  readonly port: number;
  /** Cuts every connection; the next ones go where the target is now. */
  switchNow(): void;
  close(): Promise<void>;
}

/** Each new connection to 127.0.0.1 goes on to the port that `target` names at that moment. */
export async function startForwarder(target: () => number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target(), noDelay: true });
    near.pipe(far).pipe(near);
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket);
      // What goes wrong on one side is seen on the other, as a cut connection.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const switchNow = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    switchNow,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      switchNow();
      await closed;
    },
  };
}
