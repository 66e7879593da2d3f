import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { EnrolmentRules } from "@lethe/server";
import { failure } from "../system/failure.ts";
import { readTextFile } from "../system/text-file.ts";

export interface EnrolmentOptions {
  readonly enrolmentRate: number;
  readonly enrolmentBurst: number;
  readonly mostPerAddress: number;
  readonly mostPerWindow?: number;
  readonly enrolmentTokens?: string;
  readonly attestation?: string;
}

/** What an embedded database on one disk holds, and what a server does. */
const MOST_PER_WINDOW = { embedded: 1_000_000, onServer: 100_000_000 };

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

/** One token a line; what is wrong with one is told without quoting it. */
function readTokens(path: string): string[] {
  const tokens = linesOf(path).flatMap((line, i) => {
    const token = line.trim();
    if (token === "") return [];
    if (/^[\x21-\x7e]{16,500}$/.test(token)) return [token];
    throw failure(`${path}: line ${i + 1} is not a token, which has 16 to 500 characters, all of them visible ASCII`);
  });
  if (tokens.length === 0) throw failure(`${path}: there is no token in it, so that no device could enrol`);
  return tokens;
}

function linesOf(path: string): string[] {
  try {
    return readTextFile(path, "a file of tokens").split("\n");
  } catch (error) {
    throw error instanceof RangeError ? failure(`${path}: ${error.message}`) : error;
  }
}

/** The operator's own code, which runs in the service. */
async function loadAttest(path: string): Promise<EnrolmentRules["attest"]> {
  const { attest } = await load(path);
  if (typeof attest !== "function") throw failure(`${path}: it exports no function attest`);
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
