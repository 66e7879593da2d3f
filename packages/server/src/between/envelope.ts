import { createHmac, timingSafeEqual } from "node:crypto";
import { LetheError, type LetheErrorCode } from "@lethe/core/error";
import { MOST_SECONDS_APART } from "../clock/anchor.ts";

/*
 * Requests and answers between leader and helper, authenticated both ways with the secret that both share. A request is
 * bound to its operation and its time, an answer to its request. Nobody without the secret can ask or answer. A request
 * that is repeated within the time allowed asks for something that was done already, and gets the same answer.
 */
const MAC_BYTES = 32;
const TIME_BYTES = 8;
const [ANSWERED, REFUSED] = [0, 1] as const;

/** A request whose MAC was checked. */
export interface LeaderRequest {
  readonly payload: Uint8Array;
  readonly mac: Uint8Array;
  /** The leader's clock, Unix seconds. */
  readonly at: number;
}

function macOf(secret: string, label: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac("sha256", secret).update(`${label}\n`);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** A request with its time and MAC. `operation` names the operation, the task and the window. */
export function sealRequest(secret: string, operation: string, now: number, payload: Uint8Array): Uint8Array {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeDoubleLE(now);
  return Buffer.concat([time, macOf(secret, `lethe peer request ${operation}`, time, payload), payload]);
}

/** Checks the MAC of a request; throws `unauthorized` if it was not made with this secret for this operation. */
export function openRequest(secret: string, operation: string, bytes: Uint8Array): LeaderRequest {
  const time = bytes.subarray(0, TIME_BYTES);
  const mac = bytes.subarray(TIME_BYTES, TIME_BYTES + MAC_BYTES);
  const payload = bytes.subarray(TIME_BYTES + MAC_BYTES);
  const expected = macOf(secret, `lethe peer request ${operation}`, time, payload);
  if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, expected)) {
    throw new LetheError("unauthorized", "this request needs the secret that leader and helper share");
  }
  return { payload, mac, at: Buffer.from(time).readDoubleLE() };
}

/** Throws `clocks-apart` unless the leader's clock agrees with this one. */
export function requireSameTime({ at }: LeaderRequest, now: number): void {
  const apart = Math.round(at - now);
  if (Math.abs(apart) <= MOST_SECONDS_APART) return;
  const how = apart > 0 ? "ahead of" : "behind";
  throw new LetheError(
    "clocks-apart",
    `the leader's clock is ${Math.abs(apart)} seconds ${how} the helper's: set both`,
  );
}

/** The MAC in a sealed request, to which its answer is bound. */
export function macOfRequest(sealed: Uint8Array): Uint8Array {
  return sealed.subarray(TIME_BYTES, TIME_BYTES + MAC_BYTES);
}

/** An answer with its MAC. */
export function sealAnswer(secret: string, requestMac: Uint8Array, payload: Uint8Array): Uint8Array {
  return seal(secret, requestMac, ANSWERED, payload);
}

/** A refusal with its MAC: nobody between the servers may make a leader believe that its helper refused. */
export function sealRefusal(secret: string, requestMac: Uint8Array, { code, message }: LetheError): Uint8Array {
  return seal(secret, requestMac, REFUSED, Buffer.from(JSON.stringify({ code, message })));
}

function seal(secret: string, requestMac: Uint8Array, kind: number, payload: Uint8Array): Uint8Array {
  const head = Uint8Array.of(kind);
  return Buffer.concat([head, macOf(secret, "lethe peer answer", requestMac, head, payload), payload]);
}

/**
 * Checks the MAC of an answer, and returns its payload; if it is a refusal, throws that, or `bad-answer` if
 * it cannot be read.
 */
export function openAnswer(secret: string, requestMac: Uint8Array, bytes: Uint8Array): Uint8Array {
  const head = bytes.subarray(0, 1);
  const mac = bytes.subarray(1, 1 + MAC_BYTES);
  const payload = bytes.subarray(1 + MAC_BYTES);
  if (
    mac.length !== MAC_BYTES ||
    !timingSafeEqual(mac, macOf(secret, "lethe peer answer", requestMac, head, payload))
  ) {
    throw new LetheError(
      "unauthorized",
      "the answer does not come from the helper: it was not made with the secret that both share",
    );
  }
  if (head[0] === ANSWERED) return payload;
  throw refusalIn(payload);
}

/** The refusal that a helper sent, or that it sent something else: the secret proves who it is, not what it runs. */
function refusalIn(payload: Uint8Array): LetheError {
  try {
    const { code, message } = JSON.parse(Buffer.from(payload).toString("utf8")) as Record<string, unknown>;
    if (typeof code === "string" && typeof message === "string") return new LetheError(code as LetheErrorCode, message);
  } catch {
    // Told below.
  }
  return new LetheError(
    "bad-answer",
    "the helper refuses, and its reason cannot be read: do both run the same version?",
  );
}
