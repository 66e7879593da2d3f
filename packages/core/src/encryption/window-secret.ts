import { xof } from "../xof.ts";
import { type Secret, secret } from "./secret.ts";

/** The length of a window secret. */
export const WINDOW_SECRET_BYTES = 32;

/**
 * One step forward: the secret of the next window and the chain that follows. From the chain that follows neither the
 * secret nor the chain before can be computed (TurboSHAKE128 is one-way), so what was destroyed stays destroyed.
 * `fresh` random bytes go into every step: who has copied an old chain does not know the secrets of later windows
 * either.
 */
export function stepWindowRatchet(
  chain: Secret<Uint8Array>,
  fresh: Uint8Array,
): { readonly windowSecret: Secret<Uint8Array>; readonly chain: Secret<Uint8Array> } {
  return {
    windowSecret: derive("lethe window secret", chain, fresh),
    chain: derive("lethe window ratchet", chain, fresh),
  };
}

/** Shows if a window's secret is the one it began with, and nothing else about it. */
export function commitToWindowSecret(windowSecret: Secret<Uint8Array>): Uint8Array {
  return derive("lethe window commitment", windowSecret).reveal();
}

/** The key under which a window's tally is stored: what was stored dies with the window's secret. */
export function deriveTallyKey(windowSecret: Secret<Uint8Array>): Secret<Uint8Array> {
  return derive("lethe tally key", windowSecret);
}

function derive(label: string, from: Secret<Uint8Array>, ...parts: readonly Uint8Array[]): Secret<Uint8Array> {
  const bytes = new Uint8Array(WINDOW_SECRET_BYTES);
  const stream = xof(label, from.reveal(), ...parts);
  stream(bytes);
  stream.destroy();
  return secret(bytes);
}
