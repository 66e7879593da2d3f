import { createLattice, LATTICE_SETS, type LatticeCiphertext, type LatticeScheme } from "@lethe/core/encryption";
import { type Randomness, uniformBelow } from "@lethe/core/randomness";
import type { Device } from "./games.ts";

/** Faults that a careless implementer might introduce. */
export const FAULTS = [
  "no rerandomization",
  "writing on events",
  "one rerandomization per write",
  "an encryption per event",
  "the state in clear",
] as const;
/** One of the faults. */
export type Fault = (typeof FAULTS)[number];

/** Whether the fault shows only to the holder of the key. */
export function keyHolderSees(fault: Fault): boolean {
  return fault === "an encryption per event";
}

const [SET] = LATTICE_SETS;
const PLAINTEXT_BITS = 4;
const SEGMENTS = 16;
/** Fresh encryptions in each report that the key holder looks at. */
export const IN_REPORT = 9;
/** Events in a report, if the event happens. */
export const EVENTS = 2;

/** Makes ledgers of one slot on the real encryption, with one fault or with none. */
export function brokenMaker(fault: Fault | undefined, byKeyHolder: boolean, random: Randomness): () => Device {
  const scheme = createLattice(SET, PLAINTEXT_BITS);
  return byKeyHolder ? () => reporting(scheme, fault, random) : () => storing(scheme, fault, random);
}

function storing(scheme: LatticeScheme, fault: Fault | undefined, random: Randomness): Device {
  const { publicKey } = scheme.generateKeys(random);
  const memory = scheme.trivial();
  const rerandomize = (): void => scheme.addEncryptionsOfZero(publicKey, memory, 1, random);
  rerandomize();

  /** Begins with a byte in which a careless device keeps the state of an automaton: whether this segment had an event. */
  function write(happened: boolean): Uint8Array {
    if (fault !== "no rerandomization") rerandomize();
    const bytes = Uint8Array.of(fault === "the state in clear" && happened ? 1 : 0, ...scheme.encode(memory));
    if (fault !== "no rerandomization" && fault !== "one rerandomization per write") rerandomize();
    return bytes;
  }

  return {
    segments: SEGMENTS,
    parts: "coefficients",
    live: (_segment, happens) => {
      const stored: { bytes: Uint8Array; at: number }[] = [];
      if (happens) {
        mark(scheme, memory, random);
        if (fault === "writing on events") stored.push({ bytes: write(true), at: 0.5 });
      }
      const dump = scheme.encode(memory);
      stored.push({ bytes: write(happens), at: 1 });
      return { dump, stored };
    },
  };
}

/** As `record` does: the slot becomes uniform. */
function mark(scheme: LatticeScheme, ciphertext: LatticeCiphertext, random: Randomness): void {
  scheme.addToSlot(ciphertext, 0, uniformBelow(random, 2 ** PLAINTEXT_BITS));
}

/** A device that sends a report in each segment to an intruder who holds the key, and so sees all of the noise. */
function reporting(scheme: LatticeScheme, fault: Fault | undefined, random: Randomness): Device {
  const { publicKey, secretKey } = scheme.generateKeys(random);
  // With as many values as fit, messages are phases: what a key holder sees, up to its last bit.
  const fine = createLattice(SET, FINE_BITS);

  function report(happens: boolean): LatticeCiphertext {
    const ciphertext = scheme.trivial();
    scheme.addEncryptionsOfZero(publicKey, ciphertext, IN_REPORT, random);
    for (let event = 0; happens && event < EVENTS; event++) {
      mark(scheme, ciphertext, random);
      if (fault === "an encryption per event") scheme.addEncryptionsOfZero(publicKey, ciphertext, 1, random);
    }
    return ciphertext;
  }

  return {
    segments: SEGMENTS,
    parts: "coefficients",
    live: (_segment, happens) => {
      const sent = report(happens);
      const noise = meanSquareNoise(fine.decrypt(secretKey, sent));
      return { dump: new Uint8Array(), stored: [{ bytes: scheme.encode(sent), at: 1 }], noise };
    },
  };
}

const FINE_BITS = 24;

/** The mean square of what remains of each phase without its message. */
function meanSquareNoise(phases: Int32Array): number {
  const unit = 2 ** (FINE_BITS - PLAINTEXT_BITS);
  let sum = 0;
  for (const phase of phases) {
    const rest = phase % unit;
    sum += (rest >= unit / 2 ? rest - unit : rest) ** 2;
  }
  return sum / phases.length;
}
