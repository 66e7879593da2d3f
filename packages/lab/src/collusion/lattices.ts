import { createLattice, LATTICE_SETS, type LatticeCiphertext, type LatticePublicKey } from "@lethe/core/encryption";
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { ServerRole } from "@lethe/core/two-server";
import type { View } from "../intrusion/view.ts";
import { type Received, ROLES } from "./servers.ts";
import type { Seen, Window } from "./window.ts";

const [SET] = LATTICE_SETS;
const PLAINTEXT_BITS = 4;
/** With as many values as fit, messages are phases: what a key holder sees, up to its last bit. */
const FINE_BITS = 24;
const UNIT = 2 ** (FINE_BITS - PLAINTEXT_BITS);
const SEGMENTS = 32;
const NOTHING: Received = { elements: [], answer: 0, verifier: new Uint8Array() };

/** The ciphertext of either server: w, and x − w. */
type Shared = Readonly<Record<ServerRole, LatticeCiphertext>>;
type Opened = Readonly<Record<ServerRole, Int32Array>>;

interface Version {
  readonly bytes: Uint8Array;
  /** The phases of either server's ciphertext. */
  readonly phases: Opened;
}

/**
 * The same construction over lattices: a count is a rotation of a polynomial that is shared between two servers, and
 * the shares are replaced wherever the real devices replace them. They are uniform, but the noise of the ciphertexts is not:
 * it rotates with every event, and a key holder sees it.
 */
export function latticeWindows(random: Randomness): () => Window {
  const scheme = createLattice(SET, PLAINTEXT_BITS);
  const fine = createLattice(SET, FINE_BITS);
  const { dimension } = SET;
  const modulus = 2 ** PLAINTEXT_BITS;

  return () => {
    const keys = { leader: scheme.generateKeys(random), helper: scheme.generateKeys(random) };
    const memory: Shared = { leader: scheme.trivial(), helper: scheme.trivial() };
    scheme.addToSlot(memory.helper, 0, 1);
    reshare();

    /** Adds uniform r to one share, takes it from the other, and rerandomizes both. */
    function reshare(): void {
      for (let slot = 0; slot < dimension; slot++) {
        const r = uniformBelow(random, modulus);
        scheme.addToSlot(memory.leader, slot, r);
        scheme.addToSlot(memory.helper, slot, (modulus - r) % modulus);
      }
      for (const role of ROLES) {
        const publicKey: LatticePublicKey = keys[role].publicKey;
        scheme.addEncryptionsOfZero(publicKey, memory[role], 1, random);
      }
    }

    function version(): Version {
      const phasesOf = (role: ServerRole): Int32Array => fine.decrypt(keys[role].secretKey, memory[role]);
      return {
        bytes: Buffer.concat(ROLES.map((role) => scheme.encode(memory[role]))),
        phases: { leader: phasesOf("leader"), helper: phasesOf("helper") },
      };
    }

    let before = version();
    function live(_segment: number, happens: boolean): Seen {
      if (happens) for (const role of ROLES) scheme.rotate(memory[role], 1);
      const dump = version();
      reshare();
      const after = version();
      const versions = [before, dump, after] as const;
      before = after;
      reshare();
      return (role) => viewOf(role, versions);
    }

    return { segments: SEGMENTS, live, end: async () => ({ leader: NOTHING, helper: NOTHING }) };
  };
}

function viewOf(role: ServerRole, [before, dump, after]: readonly [Version, Version, Version]) {
  const bytesOf = ({ phases }: Version): Uint8Array => new Uint8Array(phases[role].buffer);
  const view = (first: Uint8Array, second: Uint8Array, third: Uint8Array): View => ({
    before: first,
    dump: second,
    stored: [{ bytes: third, at: 1 }],
    parts: "coefficients",
  });
  return {
    sealed: view(before.bytes, dump.bytes, after.bytes),
    opened: { ...view(bytesOf(before), bytesOf(dump), bytesOf(after)), noise: rotation(before, dump, role) },
    relations: 0,
    answer: 0,
    received: NOTHING.verifier,
  };
}

/**
 * How much nearer the noise of the memory is to the rotated noise of what was stored than to the noise as it was: above
 * 0 if an event rotated it.
 */
function rotation(before: Version, dump: Version, role: ServerRole): number {
  const [old, now] = [before.phases[role].map(noiseOf), dump.phases[role].map(noiseOf)];
  let [asItWas, rotated] = [0, 0];
  for (const [i, value] of now.entries()) {
    const previous = i === 0 ? -(old.at(-1) as number) : (old[i - 1] as number);
    asItWas += (value - (old[i] as number)) ** 2;
    rotated += (value - previous) ** 2;
  }
  return (asItWas - rotated) / now.length;
}

/** What remains of a phase without its message. */
function noiseOf(phase: number): number {
  const rest = phase % UNIT;
  return rest >= UNIT / 2 ? rest - UNIT : rest;
}
