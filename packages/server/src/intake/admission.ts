import { LetheError } from "@lethe/core/error";
import { networkOf } from "./network.ts";
import { createRateLimit, type Rate } from "./rate-limit.ts";
import { isToken } from "./token.ts";

/** Who may enrol devices, and how many. */
export interface EnrolmentRules {
  /** For each address. */
  readonly rate: Rate;
  readonly mostPerAddress: number;
  /** Devices that enrol in a window, from all addresses and in all processes together. */
  readonly mostPerWindow: number;
  /** If given, enrolling a device needs one of these. */
  readonly tokens: readonly string[];
  /** The operator's own check of what a device sends with its request, for example a platform's attestation. */
  readonly attest: (request: {
    readonly task: string;
    readonly window: number;
    readonly attestation: unknown;
  }) => boolean | Promise<boolean>;
}

/** A request to enrol a device. */
export interface EnrolmentRequest {
  readonly task: string;
  readonly window: number;
  readonly address: string;
  readonly bearer: string | undefined;
  /** What the device sent for the operator's own check; undefined if nothing. */
  readonly attestation: unknown;
}

/** Generous, for schools and offices that share an address. */
export const DEFAULT_RULES: Pick<EnrolmentRules, "rate" | "mostPerAddress" | "mostPerWindow"> = {
  rate: { perSecond: 100, burst: 1000 },
  mostPerAddress: 10_000,
  mostPerWindow: 1_000_000,
};

/** Throws if a request may not enrol a device. */
export function createAdmission(
  { rate, tokens, attest }: Pick<EnrolmentRules, "rate"> & Partial<EnrolmentRules>,
  now: () => number,
): (request: EnrolmentRequest) => Promise<void> {
  const limit = createRateLimit(rate, now, "enrolments");
  return async ({ task, window, address, bearer, attestation }) => {
    limit.take(networkOf(address));
    // All are compared, so that the time does not reveal which one matched.
    if (tokens && !tokens.map((token) => isToken(bearer, token)).includes(true)) {
      throw new LetheError("unauthorized", "devices enrol here with a token of the operator, as Authorization: Bearer");
    }
    if (attest && !(await answersYes(() => attest({ task, window, attestation })))) {
      throw new LetheError("unauthorized", "the operator's check did not admit this device");
    }
  };
}

/** A check that fails admits nobody. */
async function answersYes(question: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return (await question()) === true;
  } catch {
    return false;
  }
}
