import { join, split } from "../../bytes.ts";
import {
  compactDecoder,
  createLattice,
  type DeviceKeyContext,
  deriveDevicePublicKey,
  deriveDeviceSecretKey,
  encodeCompact,
  type LatticeChoice,
  type LatticeCiphertext,
  type LatticePublicKey,
  type Slots,
} from "../../encryption/index.ts";
import { sizeOf } from "../../encryption/lattice/compact.ts";
import { createInPlaceLattice, type InPlaceLattice } from "../../encryption/lattice/in-place.ts";
import { requireLength } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import { type CiphertextMachine, deviceSide } from "../recorder.ts";
import { type AnswerReader, type DeviceSide, readOrDraw, type ServerSide } from "../statistic.ts";
import type { WritesSpec } from "../writes.ts";
import { type Canary, showsCanary } from "./canary.ts";

/** Everything that device and server must agree on for a lattice statistic. */
export interface LatticePlan extends WritesSpec {
  readonly eventsPerTick: number;
  readonly roomPerTick?: boolean;
  /** The event of every metric. */
  readonly events: readonly string[];
  readonly ciphertexts: number;
  readonly choice: LatticeChoice;
  readonly canary: Canary;
}

/** What a statistic does to its ciphertexts, all in place. */
export interface LatticeSteps {
  /** Puts the first plaintext into the trivial ciphertexts. */
  start?(ciphertexts: readonly LatticeCiphertext[], random: Randomness): void;
  fold(ciphertexts: readonly LatticeCiphertext[], metric: number, times: number, random: Randomness): void;
  /**
   * Applies the mechanism and leaves ciphertexts that hold every fresh encryption but the last one. `fill` adds fresh
   * encryptions to the i-th.
   */
  seal(ciphertexts: readonly LatticeCiphertext[], missing: number, fill: Fill, random: Randomness): void;
}
type Fill = (ciphertext: LatticeCiphertext, i: number, count: number) => void;

/** What the device's half needs of the scheme. */
export function deviceSchemeOf({ choice }: LatticePlan): InPlaceLattice {
  return createInPlaceLattice(choice.parameters, choice.plaintextBits);
}

/** The device's half of a lattice statistic, from the steps in which it differs from the others. */
export function latticeDevice(plan: LatticePlan, steps: LatticeSteps): DeviceSide {
  const scheme = deviceSchemeOf(plan);
  const { parameters, format } = plan.choice;
  const ciphertextBytes = plan.ciphertexts * scheme.ciphertextBytes;
  const indices = Array.from({ length: plan.ciphertexts }, (_, i) => i);

  function machine(publicKey: Uint8Array, random: Randomness): CiphertextMachine<readonly LatticeCiphertext[]> {
    requireLength("a public key", publicKey, plan.ciphertexts * scheme.publicKeyBytes);
    const keys = split(publicKey, plan.ciphertexts).map((bytes) => scheme.decodePublicKey(bytes));
    const fill: Fill = (ciphertext, i, count) =>
      scheme.addEncryptionsOfZero(keys[i] as LatticePublicKey, ciphertext, count, random);

    return {
      ...plan,
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
      fold: (ciphertexts, metric, times) => {
        steps.fold(ciphertexts, metric, times, random);
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

  const bytes = { report: reportBytes(plan), publicKey: plan.ciphertexts * scheme.publicKeyBytes };
  return deviceSide({ ...bytes, ciphertexts: ciphertextBytes }, plan.events, machine);
}

/** The part of the server's half that is the same for all lattice statistics. */
export function latticeServer(plan: LatticePlan, answers: AnswerReader<Slots>): Pick<ServerSide, "issueKey" | "open"> {
  const scheme = createLattice(plan.choice.parameters, plan.choice.plaintextBits);
  const indices = Array.from({ length: plan.ciphertexts }, (_, i) => i);
  const length = reportBytes(plan);
  const decode = compactDecoder(plan.choice.parameters, plan.choice.format);
  const at = (context: DeviceKeyContext, i: number): DeviceKeyContext => ({ ...context, index: context.index + i });

  return {
    issueKey: (master, context) => join(indices.map((i) => deriveDevicePublicKey(scheme, master, at(context, i)))),
    open: (master, context, report, random) => {
      if (report.length !== length) return readOrDraw(answers, random, undefined);
      let intact = true;
      const opened = split(report, plan.ciphertexts).map((bytes, i) => {
        const { ciphertext, clean } = decode(bytes);
        const slots = scheme.decrypt(deriveDeviceSecretKey(scheme, master, at(context, i)), ciphertext);
        const shown = showsCanary(plan.canary, slots);
        intact = intact && clean && shown;
        return slots;
      });
      return readOrDraw(answers, random, { opened, intact });
    },
  };
}

function reportBytes({ ciphertexts, choice }: LatticePlan): number {
  return ciphertexts * sizeOf(choice.parameters, choice.format);
}
