import type { LatticeChoice, LatticeCiphertext } from "../../encryption/index.ts";
import { chooseFor } from "../../encryption/lattice/choose.ts";
import { flatGains } from "../../encryption/lattice/failure-bound.ts";
import {
  chooseLedgerBits,
  drawLedgerNoise,
  type LedgerResponse,
  ledgerResponseWithBits,
  readLedgerValue,
} from "../../privacy/ledger-response.ts";
import { uniformBelow, withBufferedRandomness } from "../../randomness/index.ts";
import type { Statistic } from "../entry.ts";
import { createCanary } from "../lattice/canary.ts";
import { deviceSchemeOf, type LatticePlan, latticeDevice, latticeServer } from "../lattice/lattice-machine.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { writesAllowed, writesIn } from "../writes.ts";
import { checkOccurrence, type OccurrenceSpec, occurrenceEstimates, occurrenceEvents } from "./occurrence.ts";

/**
 * All occurrence metrics of a task in one ciphertext, at a cost that does not depend on their number. Metrics beyond
 * the slots of the smallest set go into further ciphertexts of the same size.
 */
export interface LedgerPlan extends LatticePlan {
  readonly responses: readonly LedgerResponse[];
  readonly perCiphertext: number;
}

/** Chooses slots and lattice parameters for all metrics, or refuses with a `RangeError` what has no room. */
export function planLedger(spec: OccurrenceSpec): LedgerPlan {
  checkOccurrence(spec, spec.localEpsilons.length);
  const responses = ledgerResponses(spec.localEpsilons);
  const { bits } = responses[0] as LedgerResponse;
  const canary = createCanary(bits, 0);
  const metrics = responses.length;
  // The smallest set in which such slots decode; longer ones cost more a slot, so length alone is no reason for them.
  const { dimension } = chooseWith(spec, bits, 1).parameters;
  const ciphertexts = Math.ceil(metrics / (dimension - canary.slots.length));
  const perCiphertext = Math.ceil(metrics / ciphertexts);
  const choice = chooseWith(spec, bits, canary.slots.length + perCiphertext);
  const eventsPerTick = Number.POSITIVE_INFINITY;
  const events = occurrenceEvents(spec, spec.localEpsilons);
  return { ...writesIn(spec), eventsPerTick, events, ciphertexts, choice, canary, responses, perCiphertext };
}

/** The responses of all metrics in slots of the same width. */
function ledgerResponses(localEpsilons: readonly number[]): LedgerResponse[] {
  const bits = chooseLedgerBits(localEpsilons);
  return localEpsilons.map((epsilon) => ledgerResponseWithBits(epsilon, bits) as LedgerResponse);
}

function chooseWith(spec: OccurrenceSpec, bits: number, slots: number): LatticeChoice {
  const need = {
    plaintextBits: bits,
    slots,
    encryptions: 2 * writesAllowed(spec) + 1,
    reads: Array.from({ length: slots }, (_, slot) => slot),
    // So that t² ≤ q.
    modulusBits: 2 * bits,
    toLower: "ticks or hides, or bring every localEpsilon closer to 1",
  };
  return chooseFor(need, flatGains);
}

/** Behind the canary. */
function place({ perCiphertext, canary }: LedgerPlan, metric: number): { ciphertext: number; slot: number } {
  return {
    ciphertext: Math.floor(metric / perCiphertext),
    slot: canary.slots.length + (metric % perCiphertext),
  };
}

/** The device's half. */
export function ledgerDevice(plan: LedgerPlan): DeviceSide {
  const scheme = deviceSchemeOf(plan);
  const t = 2 ** plan.choice.plaintextBits;

  function addTo(ciphertexts: readonly LatticeCiphertext[], metric: number, value: number): void {
    const { ciphertext, slot } = place(plan, metric);
    scheme.addToSlot(ciphertexts[ciphertext] as LatticeCiphertext, slot, value);
  }

  return latticeDevice(plan, {
    // Once it has happened the slot is uniform, and stays so however often it happens again.
    fold: (ciphertexts, metric, _times, random) => addTo(ciphertexts, metric, uniformBelow(random, t)),
    seal: (ciphertexts, missing, fill, random) => {
      for (const [i, ciphertext] of ciphertexts.entries()) fill(ciphertext, i, missing);
      withBufferedRandomness(random, (buffered) => {
        for (const [metric, response] of plan.responses.entries()) {
          addTo(ciphertexts, metric, drawLedgerNoise(response, buffered));
        }
      });
    },
  });
}

/** The server's half. */
export function ledgerServer(plan: LedgerPlan): ServerSide {
  const t = 2 ** plan.choice.plaintextBits;
  const metrics = plan.responses.map((response, metric) => ({ response, ...place(plan, metric) }));
  // Every report pays for draws on "no event": no more bits than they need, and one request for all metrics.
  const Words = t > 2 ** 16 ? Uint32Array : t > 2 ** 8 ? Uint16Array : Uint8Array;
  return {
    ...latticeServer(plan, {
      read: (opened) =>
        metrics.map(({ response, ciphertext, slot }) =>
          readLedgerValue(response, opened[ciphertext]?.[slot] as number),
        ),
      onNoEvent: (random) => {
        const words = new Words(metrics.length);
        random(new Uint8Array(words.buffer));
        // 1 with probability size/t, which is `flip`.
        return plan.responses.map(({ size }, i) => Number(((words[i] as number) & (t - 1)) < size));
      },
    }),
    ...occurrenceEstimates(plan.responses),
  };
}

/** Both halves. */
export function ledgerStatistic(spec: OccurrenceSpec): Statistic {
  const plan = planLedger(spec);
  const z = plan.responses.reduce((least, { size }) => Math.min(least, size), Number.POSITIVE_INFINITY);
  return { device: ledgerDevice(plan), server: ledgerServer(plan), choice: plan.choice, z };
}
