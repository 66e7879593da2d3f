import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { secret } from "./secret.ts";
import { commitToWindowSecret, deriveTallyKey, stepWindowRatchet } from "./window-secret.ts";

const chain = secret(new Uint8Array(32).fill(1));
const fresh = new Uint8Array(32).fill(2);
const hex = (value: { reveal(): Uint8Array }): string => bytesToHex(value.reveal());

describe("the ratchet of window secrets", () => {
  it("gives a secret and a chain that differ from each other and from what went in", () => {
    const step = stepWindowRatchet(chain, fresh);
    const next = stepWindowRatchet(step.chain, fresh);
    const all = [chain, step.chain, step.windowSecret, next.chain, next.windowSecret].map(hex);
    expect(new Set(all).size).toBe(5);
  });

  it("depends on the chain and on the fresh bytes", () => {
    const step = hex(stepWindowRatchet(chain, fresh).windowSecret);
    expect(hex(stepWindowRatchet(chain, fresh).windowSecret)).toBe(step);
    expect(hex(stepWindowRatchet(chain, new Uint8Array(32)).windowSecret)).not.toBe(step);
    expect(hex(stepWindowRatchet(secret(new Uint8Array(32)), fresh).windowSecret)).not.toBe(step);
  });

  it("gives a key for the tally that is neither the secret nor the commitment", () => {
    const { windowSecret } = stepWindowRatchet(chain, fresh);
    const all = [hex(windowSecret), hex(deriveTallyKey(windowSecret)), bytesToHex(commitToWindowSecret(windowSecret))];
    expect(new Set(all).size).toBe(3);
    expect(hex(deriveTallyKey(windowSecret))).toBe(hex(deriveTallyKey(windowSecret)));
  });

  it("commits to a secret without showing it, and shows nothing when printed", () => {
    const { windowSecret } = stepWindowRatchet(chain, fresh);
    expect(bytesToHex(commitToWindowSecret(windowSecret))).not.toBe(hex(windowSecret));
    expect(commitToWindowSecret(windowSecret)).toEqual(
      commitToWindowSecret(stepWindowRatchet(chain, fresh).windowSecret),
    );
    expect(`${windowSecret}${JSON.stringify(windowSecret)}`).toBe('[secret]"[secret]"');
  });
});
