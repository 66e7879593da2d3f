/**
 * How a command deals with the system that it runs on: how it fails, stops, finds a port, and reads files. Every other
 * folder may import this one, and it imports none of them. Start with this file, which says how a command ends.
 */
import type { LetheError } from "@lethe/core/error";
import { CommanderError } from "commander";

/** Marks our own errors, which `main` has to print: commander prints its errors itself. */
const FAILURE = "lethe.failure";

/** An error that ends the command with this one line, and with exit code 2 if the user can mend it. */
export function failure(message: string, exitCode = 2): CommanderError {
  return new CommanderError(exitCode, FAILURE, message);
}

/** Whether `failure` made this error. */
export function isFailure(error: unknown): boolean {
  return error instanceof CommanderError && error.code === FAILURE;
}

const HINTS: Partial<Record<LetheError["code"], string>> = {
  unauthorized: ": set LETHE_ADMIN_TOKEN, or LETHE_DATA to its data folder",
  unreachable: ": is the address right, and the service running (npx lethe serve)?",
};

/**
 * What a user of the command can do about an error, to be printed after its message; empty if the message says it all.
 */
export function hintFor({ code }: LetheError): string {
  return HINTS[code] ?? "";
}
