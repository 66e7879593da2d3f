import { chooseLattice, type LatticeCiphertext } from "../../encryption/index.ts";
import { drawLedgerNoise, type LedgerResponse, readLedgerValue } from "../../privacy/ledger-response.ts";
import { respond } from "../../privacy/randomized-response.ts";
import { type Randomness, uniformBelow, withBufferedRandomness } from "../../randomness/index.ts";
import { checkOccurrence, ledgerResponses, type OccurrenceSpec, occurrenceEstimates } from "../occurrence.ts";
import { writesAllowed } from "../recorder.ts";
import type { DeviceSide, ServerSide } from "../statistic.ts";
import { canaryLength, createCanary } from "./canary.ts";
import { type LatticePlan, latticeDevice, latticeServer, schemeOf } from "./lattice-machine.ts";

/**
 * All occurrence metrics of a task in one ciphertext, at a cost that does not depend on their number. Metrics beyond
 * the slots of the smallest set go into further ciphertexts of the same size.
 */
export interface LedgerPlan extends LatticePlan {
  readonly responses: readonly LedgerResponse[];
  readonly perCiphertext: number;
}

/** Longer ciphertexts cost more a slot, so a ledger does not use them for length. */
const SHORTEST = 1024;

export function planLedger(spec: OccurrenceSpec): LedgerPlan {
  checkOccurrence(spec);
  const responses = ledgerResponses(spec.localEpsilons);
  const { bits } = responses[0] as LedgerResponse;
  const canarySlots = canaryLength(bits);
  const metrics = responses.length;
  const ciphertexts = Math.ceil(metrics / (SHORTEST - canarySlots));
  const perCiphertext = Math.ceil(metrics / ciphertexts);
  const used = canarySlots + perCiphertext;
  const choice = chooseLattice({
    plaintextBits: bits,
    slots: used,
    encryptions: 2 * writesAllowed(spec.ticks) + 1,
    reads: Array.from({ length: used }, (_, slot) => slot),
  });
  const eventsPerTick = Number.POSITIVE_INFINITY;
  const canary = createCanary(bits, 0);
  return { ticks: spec.ticks, eventsPerTick, metrics, ciphertexts, choice, canary, responses, perCiphertext };
}

/** Behind the canary. */
function place({ perCiphertext, canary }: LedgerPlan, metric: number): { ciphertext: number; slot: number } {
  return {
    ciphertext: Math.floor(metric / perCiphertext),
    slot: canary.slots.length + (metric % perCiphertext),
  };
}

export function ledgerDevice(plan: LedgerPlan): DeviceSide {
  const scheme = schemeOf(plan);
  const t = 2 ** plan.choice.plaintextBits;

  function addTo(ciphertexts: readonly LatticeCiphertext[], metric: number, value: number): void {
    const { ciphertext, slot } = place(plan, metric);
    scheme.addToSlot(ciphertexts[ciphertext] as LatticeCiphertext, slot, value);
  }

  return latticeDevice(plan, {
    // Once it has happened the slot is uniform, and stays so however often it happens again.
    fold: (ciphertexts, metric, random) => addTo(ciphertexts, metric, uniformBelow(random, t)),
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

export function ledgerServer(plan: LedgerPlan): ServerSide {
  return {
    ...latticeServer(plan, {
      read: (opened) =>
        plan.responses.map((response, metric) => {
          const { ciphertext, slot } = place(plan, metric);
          return readLedgerValue(response, opened[ciphertext]?.[slot] as number);
        }),
      onNoEvent: (random: Randomness) => plan.responses.map((response) => respond(response, 0, random)),
    }),
    ...occurrenceEstimates(plan.responses),
  };
}
