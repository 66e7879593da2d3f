import {
  compactBytes,
  createLattice,
  type DeviceKeyContext,
  decodeCompact,
  deriveDeviceKeys,
  deriveDeviceSecretKey,
  encodeCompact,
  type LatticeChoice,
  type LatticeCiphertext,
  type LatticePublicKey,
  type LatticeScheme,
  type Secret,
  type Slots,
} from "../../encryption/index.ts";
import { LetheError, requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import { type CiphertextMachine, resumeRecorder, startRecorder, storedBytes } from "../recorder.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { type Canary, showsCanary } from "./canary.ts";

/** Everything that device and server must agree on for a lattice statistic. */
export interface LatticePlan {
  readonly ticks: number;
  readonly eventsPerTick: number;
  readonly metrics: number;
  readonly ciphertexts: number;
  readonly choice: LatticeChoice;
  readonly canary: Canary;
}

/** What a statistic does to its ciphertexts, all in place. */
export interface LatticeSteps {
  /** Puts the first plaintext into the trivial ciphertexts. */
  start?(ciphertexts: readonly LatticeCiphertext[], random: Randomness): void;
  fold(ciphertexts: readonly LatticeCiphertext[], metric: number, random: Randomness): void;
  /**
   * Applies the mechanism and leaves ciphertexts that hold every fresh encryption but the last one. `fill` adds fresh
   * encryptions to the i-th.
   */
  seal(ciphertexts: readonly LatticeCiphertext[], missing: number, fill: Fill, random: Randomness): void;
}
type Fill = (ciphertext: LatticeCiphertext, i: number, count: number) => void;

export function schemeOf({ choice }: LatticePlan): LatticeScheme {
  return createLattice(choice.parameters, choice.plaintextBits);
}

export function latticeDevice(plan: LatticePlan, steps: LatticeSteps): DeviceSide {
  const scheme = schemeOf(plan);
  const { parameters, format } = plan.choice;
  const ciphertextBytes = plan.ciphertexts * scheme.ciphertextBytes;
  const indices = Array.from({ length: plan.ciphertexts }, (_, i) => i);

  function machine(publicKey: Uint8Array, random: Randomness): CiphertextMachine<readonly LatticeCiphertext[]> {
    requireLength("a public key", publicKey, plan.ciphertexts * scheme.publicKeyBytes);
    const keys = split(publicKey, plan.ciphertexts).map((bytes) => scheme.decodePublicKey(bytes));
    const fill: Fill = (ciphertext, i, count) =>
      scheme.addEncryptionsOfZero(keys[i] as LatticePublicKey, ciphertext, count, random);

    return {
      ticks: plan.ticks,
      eventsPerTick: plan.eventsPerTick,
      metrics: plan.metrics,
      ciphertextBytes,
      start: () => {
        const ciphertexts = indices.map(() => scheme.trivial());
        steps.start?.(ciphertexts, random);
        return ciphertexts;
      },
      rerandomize: (ciphertexts) => {
        for (const [i, ciphertext] of ciphertexts.entries()) fill(ciphertext, i, 1);
        return ciphertexts;
      },
      fold: (ciphertexts, metric) => {
        steps.fold(ciphertexts, metric, random);
        return ciphertexts;
      },
      encode: (ciphertexts) => join(ciphertexts.map(scheme.encode)),
      decode: (bytes) => split(bytes, plan.ciphertexts).map(scheme.decode),
      seal: (ciphertexts, missing) => {
        steps.seal(ciphertexts, missing, fill, random);
        for (const [i, ciphertext] of ciphertexts.entries()) {
          const { slots, values } = plan.canary;
          for (const [j, slot] of slots.entries()) scheme.addToSlot(ciphertext, slot, values[j] as number);
          fill(ciphertext, i, 1);
        }
        return join(ciphertexts.map((ciphertext) => encodeCompact(parameters, format, ciphertext)));
      },
    };
  }

  return {
    bytes: {
      state: storedBytes(ciphertextBytes),
      report: reportBytes(plan),
      publicKey: plan.ciphertexts * scheme.publicKeyBytes,
    },
    start: (publicKey, random) => startRecorder(machine(publicKey, random)),
    resume: (publicKey, stored, sameTick, random) => resumeRecorder(machine(publicKey, random), stored, sameTick),
  };
}

/** The part of the server's half that is the same for all lattice statistics. */
export function latticeServer(
  plan: LatticePlan,
  answers: {
    /** The answers in the opened slots of all ciphertexts, or undefined if no honest device sends them. */
    readonly read: (opened: readonly Slots[]) => readonly number[] | undefined;
    readonly onNoEvent: (random: Randomness) => readonly number[];
  },
): Pick<ServerSide, "issueKey" | "open"> {
  const scheme = schemeOf(plan);
  const indices = Array.from({ length: plan.ciphertexts }, (_, i) => i);
  const at = (context: DeviceKeyContext, i: number): DeviceKeyContext => ({ ...context, index: context.index + i });

  function openAll(master: Secret<Uint8Array>, context: DeviceKeyContext, report: Uint8Array): Slots[] | undefined {
    try {
      requireLength("a report", report, reportBytes(plan));
      return split(report, plan.ciphertexts).map((bytes, i) => {
        const ciphertext = decodeCompact(plan.choice.parameters, plan.choice.format, bytes);
        return scheme.decrypt(deriveDeviceSecretKey(scheme, master, at(context, i)), ciphertext);
      });
    } catch (error) {
      if (error instanceof LetheError) return undefined;
      throw error;
    }
  }

  return {
    issueKey: (master, context) =>
      join(indices.map((i) => scheme.encodePublicKey(deriveDeviceKeys(scheme, master, at(context, i)).publicKey))),
    open: (master, context, report, random) => {
      const opened = openAll(master, context, report);
      const read = opened?.every((slots) => showsCanary(plan.canary, slots)) ? answers.read(opened) : undefined;
      return read ? { valid: true, answers: read } : { valid: false, answers: answers.onNoEvent(random) };
    },
  };
}

function reportBytes({ ciphertexts, choice }: LatticePlan): number {
  return ciphertexts * compactBytes(choice.parameters, choice.format);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function split(bytes: Uint8Array, parts: number): Uint8Array[] {
  const size = bytes.length / parts;
  return Array.from({ length: parts }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}
