import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encodeBase64url } from "@lethe/core/message";
import { createFile } from "@lethe/files";
import { ADMIN_TOKEN_FILE } from "@lethe/server/admin-token-file";
import { failure } from "../system/failure.ts";

/** The default of --data. */
export const DEFAULT_DATA = "./lethe-data";

const VARIABLE = "LETHE_ADMIN_TOKEN";
const LEAST_CHARACTERS = 16;
const TOKEN_BYTES = 32;

/** The admin token of a service that is about to start. */
export interface AdminToken {
  readonly token: string;
  /** The environment variable or the file that it comes from. */
  readonly source: string;
  /** Stores a token that was just created, for the next start and for the operator on this machine. */
  readonly keep: () => void;
}

/**
 * The token that a service requires of its admin: from the environment, else from the data folder, else a new one,
 * which is not stored yet.
 */
export function adminTokenOf(data: string): AdminToken {
  const given = findToken(tokenFileOf(data));
  if (given) return { ...given, keep: () => {} };
  const token = encodeBase64url(randomBytes(TOKEN_BYTES));
  const source = tokenFileOf(data);
  return { token, source, keep: () => createFile(source, `${token}\n`) };
}

/** The token for a request to a service: from the environment, else from the data folder that LETHE_DATA names. */
export function requireAdminToken(): string {
  const file = tokenFileOf(process.env.LETHE_DATA ?? DEFAULT_DATA);
  const found = findToken(file);
  if (found) return found.token;
  throw failure(`the admin token is missing: set ${VARIABLE}, or LETHE_DATA to the service's data folder (no ${file})`);
}

const tokenFileOf = (data: string): string => join(data, ADMIN_TOKEN_FILE);

function findToken(file: string): { token: string; source: string } | undefined {
  const fromEnvironment = process.env[VARIABLE];
  const token = fromEnvironment ?? readToken(file);
  if (token === undefined) return undefined;
  const source = fromEnvironment === undefined ? file : VARIABLE;
  if (token.length < LEAST_CHARACTERS) {
    throw failure(`the admin token in ${source} is too short: it must have at least ${LEAST_CHARACTERS} characters`);
  }
  if (!/^[\x21-\x7e]{1,500}$/.test(token)) {
    throw failure(`the admin token in ${source} must have at most 500 characters, all of them visible ASCII`);
  }
  return { token, source };
}

function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw failure(`the admin token in ${file} cannot be read (${code})`);
  }
}
