import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { EnrolmentRules } from "@lethe/server";
import { failure } from "../system/failure.ts";
import { readTextFile } from "../system/text-file.ts";

/** The options of `lethe serve` about enrolment. */
export interface EnrolmentOptions {
  readonly enrolmentRate: number;
  readonly enrolmentBurst: number;
  readonly mostPerAddress: number;
  readonly mostPerWindow?: number;
  readonly enrolmentTokens?: string;
  readonly attestation?: string;
}

/** What an embedded database on one disk holds, and what a PostgreSQL server holds. */
const MOST_PER_WINDOW = { embedded: 1_000_000, onServer: 100_000_000 };

/** Which devices a service enrols, and how many. Loads the operator's tokens and module. */
export async function enrolmentRules(options: EnrolmentOptions, isOnServer: boolean): Promise<Partial<EnrolmentRules>> {
  const { enrolmentRate: perSecond, enrolmentBurst: burst, mostPerAddress, enrolmentTokens, attestation } = options;
  return {
    rate: { perSecond, burst },
    mostPerAddress,
    mostPerWindow: options.mostPerWindow ?? (isOnServer ? MOST_PER_WINDOW.onServer : MOST_PER_WINDOW.embedded),
    ...(enrolmentTokens !== undefined && { tokens: readTokens(enrolmentTokens) }),
    ...(attestation !== undefined && { attest: await loadAttest(attestation) }),
  };
}

/** Reads a file with one token per line. Errors name the line and never quote a token. */
function readTokens(path: string): string[] {
  const tokens = linesOf(path).flatMap((line, i) => {
    const token = line.trim();
    if (token === "") return [];
    if (/^[\x21-\x7e]{16,500}$/.test(token)) return [token];
    throw failure(`${path}: line ${i + 1} is not a token: a token has 16 to 500 characters, all of them visible ASCII`);
  });
  if (tokens.length === 0) throw failure(`${path}: there is no token in it, so no device could enrol`);
  return tokens;
}

function linesOf(path: string): string[] {
  try {
    return readTextFile(path, "a file of tokens").split("\n");
  } catch (error) {
    throw error instanceof RangeError ? failure(`${path}: ${error.message}`) : error;
  }
}

/** Loads the operator's own code, which then runs in the service. */
async function loadAttest(path: string): Promise<EnrolmentRules["attest"]> {
  const { attest } = await load(path);
  if (typeof attest !== "function") throw failure(`${path}: it does not export a function attest`);
  return attest as EnrolmentRules["attest"];
}

async function load(path: string): Promise<{ attest?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as { attest?: unknown };
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split("\n");
    throw failure(`${path}: it cannot be loaded: ${reason}`);
  }
}
