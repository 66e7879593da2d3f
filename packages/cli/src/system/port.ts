import { createServer } from "node:net";
import { failure } from "./failure.ts";
import { whyUnusable } from "./text-file.ts";

/** An address to listen at. */
interface Place {
  readonly host: string;
  readonly port: number;
}

/** Ends the command with one line if the port cannot be used, before anything is stored. */
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

/** Turns a refusal of the system into one line, and returns other errors as they are. */
export function whyNotListening(error: unknown, { host, port }: Place): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  const refused = error as NodeJS.ErrnoException;
  const { code = "", path } = refused;
  if (code === "EADDRINUSE") return failure(`port ${port} of ${host} is in use: choose another with --port`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return failure(`${host} is not an address of this machine: choose another with --host`);
  }
  if (code === "EACCES" && path === undefined) {
    return failure(`this user may not listen on port ${port}: choose one above 1023 with --port`);
  }
  return path === undefined ? error : failure(`${path}: ${whyUnusable(refused)}`);
}
