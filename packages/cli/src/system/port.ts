import { createServer } from "node:net";
import { failure } from "./failure.ts";
import { whyUnusable } from "./text-file.ts";

/** Where a process listens. */
interface Place {
  readonly host: string;
  readonly port: number;
}

/** Ends the command with one line if nobody can listen there, before anything else is touched. */
export async function requireFreePort(place: Place): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject).listen(place.port, place.host, resolve);
    });
  } catch (error) {
    throw whyNotListening(error, place);
  }
  await new Promise((resolve) => probe.close(resolve));
}

/** What the system refuses, in one line; other errors as they are. */
export function whyNotListening(error: unknown, { host, port }: Place): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  const refused = error as NodeJS.ErrnoException;
  const { code = "", path } = refused;
  if (code === "EADDRINUSE") return failure(`port ${port} of ${host} is in use: choose another with --port`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return failure(`${host} is no address of this machine: choose another with --host`);
  }
  if (code === "EACCES" && path === undefined) {
    return failure(`port ${port} may not be listened on: choose one above 1023 with --port`);
  }
  return path === undefined ? error : failure(`${path}: ${whyUnusable(refused)}`);
}
