import { CommanderError } from "commander";

/** How `main` knows what is still to be printed from what commander has printed. */
const FAILURE = "lethe.failure";

/** Ends the command with this line; with exit code 2, if the user can mend it. */
export function failure(message: string, exitCode = 2): CommanderError {
  return new CommanderError(exitCode, FAILURE, message);
}

export function isFailure(error: unknown): error is CommanderError {
  return error instanceof CommanderError && error.code === FAILURE;
}
