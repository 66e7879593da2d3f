import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/**
 * About twenty requests of the shortest kind. Whatever a client sends, Node would parse 64 kB of it, thousands of
 * requests, at once.
 */
const PIECE_BYTES = 512;
/** As many as the headers of an ordinary request take. */
const PIECES_AT_ONCE = 4;
/** More than requests without a body take: such a client is not served before others. */
const AHEAD_BYTES = 16_384;
/**
 * The time that clients that send ahead may use of one turn of the event loop, if nobody else has come; otherwise only
 * one of them has a turn.
 */
const SLICE_MS = 5;

interface Connection {
  readonly socket: Socket;
  /** Requests that were read and whose answer has not left. */
  unanswered: number;
  /** The request that was read last. */
  newest?: IncomingMessage;
  /** An upper bound on the bytes of its body that are still to come. */
  bodyLeft: number;
  /** Node takes no more, because an answer or a body waits. */
  isPaused: boolean;
  /** It waits for its turn. */
  isWaiting: boolean;
}

/**
 * Reads of every connection only what its client may ask for now: the next piece of 512 bytes when every request of the
 * piece before is answered, and the answers have left. Bytes that are sent ahead stay in the socket, and TCP stops the
 * client. So a connection has about twenty requests in progress, however many its client sends, and a client that does
 * not read its answers is not read, either.
 *
 * With a `readable` listener, Node parses what `read(n)` returns and nothing else. Clients that send ahead take turns.
 */
export function limitPipelining(server: Server): void {
  const connections = new WeakMap<Socket, Connection>();
  const { waitForTurn, goFirst } = createTurnstile();

  function pump(connection: Connection): void {
    const { socket } = connection;
    for (let pieces = 0; pieces < PIECES_AT_ONCE; pieces++) {
      if (!mayRead(connection)) return;
      const { newest } = connection;
      const most = newest?.complete === false ? Math.max(PIECE_BYTES, connection.bodyLeft) : PIECE_BYTES;
      const bytes = Math.min(socket.readableLength, most);
      // Reading nothing reports the end, if it is there.
      socket.read(bytes);
      if (bytes === 0) return;
      if (connection.newest === newest) connection.bodyLeft = Math.max(0, connection.bodyLeft - bytes);
    }
    later(connection);
  }

  function later(connection: Connection): void {
    if (connection.isWaiting) return;
    connection.isWaiting = true;
    waitForTurn(() => {
      connection.isWaiting = false;
      pump(connection);
    });
  }

  function goOn(connection: Connection): void {
    if (connection.isWaiting) return;
    if (connection.socket.readableLength > 0) later(connection);
    else pump(connection);
  }

  // After Node's own listener, which would otherwise take the socket's data for itself.
  server.on("connection", (socket: Socket) => {
    goFirst();
    const connection: Connection = { socket, unanswered: 0, bodyLeft: 0, isPaused: false, isWaiting: false };
    connections.set(socket, connection);
    socket.pause = () => {
      connection.isPaused = true;
      return socket;
    };
    socket.resume = () => {
      if (connection.isPaused) {
        connection.isPaused = false;
        goOn(connection);
      }
      return socket;
    };
    socket.on("readable", () => {
      if (connection.isWaiting) return;
      if (socket.readableLength > AHEAD_BYTES) later(connection);
      else {
        goFirst();
        pump(connection);
      }
    });
  });
  server.prependListener("request", (request, response) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    connection.unanswered++;
    connection.newest = request;
    connection.bodyLeft = Number(request.headers["content-length"] ?? 0);
    response.once("close", () => {
      connection.unanswered--;
      goOn(connection);
    });
  });
  // With 30 seconds of silence: clients that ask nothing, stop in the middle of a request or do not read the answer are
  // cut off, clients that wait for an answer stay.
  server.on("timeout", (socket: Socket) => {
    const connection = connections.get(socket);
    if (!connection || !isOurTurn(connection)) socket.destroy();
  });
}

/**
 * Nothing of a request is asked for before those that came earlier are answered; but a request that began is read to
 * its end.
 */
function mayRead({ socket, unanswered, newest, isPaused }: Connection): boolean {
  return !isPaused && !socket.destroyed && (unanswered === 0 || newest?.complete === false);
}

/** Whether the client can only wait. A request that lacks its end waits for the client, unless it is not read. */
function isOurTurn({ socket, unanswered, newest, isPaused, isWaiting }: Connection): boolean {
  const isWhole = newest?.complete !== false || isPaused || isWaiting;
  return unanswered > 0 && isWhole && socket.writableLength === 0;
}

interface Turnstile {
  /** Calls back, each in its turn. */
  readonly waitForTurn: (turn: () => void) => void;
  /**
   * Somebody who need not wait has come. Node accepts one connection in a turn of the event loop, so that turn must be
   * short.
   */
  readonly goFirst: () => void;
}

function createTurnstile(): Turnstile {
  let waiting: (() => void)[] = [];
  let isRunning = false;
  let hasSomebodyCome = false;

  function run(): void {
    const end = performance.now() + (hasSomebodyCome ? 0 : SLICE_MS);
    hasSomebodyCome = false;
    let done = 0;
    do waiting[done++]?.();
    while (done < waiting.length && performance.now() < end);
    waiting = waiting.slice(done);
    isRunning = waiting.length > 0;
    if (isRunning) setImmediate(run);
  }

  return {
    waitForTurn: (turn) => {
      waiting.push(turn);
      if (isRunning) return;
      isRunning = true;
      setImmediate(run);
    },
    goFirst: () => {
      hasSomebodyCome = true;
    },
  };
}
