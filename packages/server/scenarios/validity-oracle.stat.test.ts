import { createLattice, encodeCompact } from "@lethe/core/encryption";
import { decodePublicKeys, encodeReport, type Release, type Task } from "@lethe/core/message";
import { noisedInvalidCount } from "@lethe/core/privacy";
import { randomnessFrom } from "@lethe/core/randomness";
import { createCanary } from "@lethe/core/statistic";
import { expect, it } from "vitest";
import { type Device, enrol, enrolMany, fetchTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { closeByHand, createTask, startTestService } from "../test/service.ts";

/**
 * The validity oracle (docs/threat-model.md), run against the service: an intruder reads a device's stored state and
 * hijacks its one report. They turn the secret slot onto the canary and add the pattern, so that the report is valid
 * exactly if the event never happened, and then read the release. A few windows show that the service keeps the rule;
 * how little is left is measured in the lab (`attacks`), with thousands.
 */
const random = randomnessFrom(globalThis.crypto);

const TASK: Task = {
  version: 1,
  task: "oracle",
  tickSeconds: 30,
  ticks: 2,
  hides: 2,
  graceSeconds: 0,
  mode: "one-server",
  scheme: "lattice",
  minimumDevices: 4,
  metrics: [{ name: "secret", statistic: "occurrence", localEpsilon: 1 }],
};

const STATE_HEADER_BYTES = 10;

/** What the intruder makes of a device's stored state. */
function craft({ task, publicKeys }: Device, stored: Uint8Array): Uint8Array {
  const [part] = task.layout;
  const choice = part?.choice;
  const [key] = decodePublicKeys(task.layout, publicKeys);
  if (!choice || !key) throw new TypeError("this is not a lattice task");
  const scheme = createLattice(choice.parameters, choice.plaintextBits);
  const canary = createCanary(choice.plaintextBits, 0);
  const state = scheme.decode(stored.subarray(STATE_HEADER_BYTES));
  // The first metric follows the canary: turned back by its length, the secret slot lies under the first canary slot.
  scheme.rotate(state, 2 * choice.parameters.dimension - canary.slots.length);
  for (const [i, slot] of canary.slots.entries()) scheme.addToSlot(state, slot, canary.values[i] as number);
  scheme.addEncryptionsOfZero(scheme.decodePublicKey(key), state, 1, random);
  return encodeReport(task.hash, [encodeCompact(choice.parameters, choice.format, state)]);
}

function capture({ task, publicKeys }: Device, happened: boolean): Uint8Array {
  const [part] = task.layout;
  const [key] = decodePublicKeys(task.layout, publicKeys);
  const recorder = part?.device.start(key as Uint8Array, random);
  if (happened) recorder?.record(0);
  return recorder?.write() as Uint8Array;
}

/** Releases of windows in which one report was hijacked: for each secret bit, as many as asked for. */
async function attack(trials: number, invalidNoise: () => number): Promise<{ bit: boolean; release: Release }[]> {
  const service = await startTestService({ keysAhead: 8 }, { invalidNoise, pollMilliseconds: 10 });
  try {
    await createTask(service, TASK);
    const task = await fetchTask(service, TASK.task);
    const outcomes: { bit: boolean; release: Release }[] = [];
    for (let trial = 0; trial < 2 * trials; trial++) {
      const bit = trial % 2 === 1;
      const window = Math.floor(service.clock() / 60_000);
      const victim = await enrol(service, task, window);
      expect((await upload(service, victim, craft(victim, capture(victim, bit)))).status).toBe(201);
      for (const device of await enrolMany(service, task, window, 3)) await upload(service, device, reportOf(device));
      expect((await closeByHand(service, TASK.task, window)).status).toBe(200);
      const release = await eventually(async () => {
        const response = await fetch(`${service.url}/v1/tasks/${TASK.task}/releases/${window}`);
        return response.status === 200 ? ((await response.json()) as Release) : undefined;
      });
      outcomes.push({ bit, release });
      service.clock.advance(60);
    }
    return outcomes;
  } finally {
    await service.remove();
  }
}

it("if the number of invalid reports were published exactly, a hijacked report would tell the victim's bit", async () => {
  const outcomes = await attack(8, () => 0);
  const right = outcomes.filter(({ bit, release }) => bit === release.invalid.estimate > 0).length;
  console.log(`without the rule the intruder is right in ${right} of ${outcomes.length} windows`);
  // Where it happened the slot is uniform on 128 values, one of which passes: four misses in 8 have probability 3e-7.
  expect(right).toBeGreaterThanOrEqual(13);
});

it("with the rule the intruder can as well guess, and no device is missing from the release", async () => {
  const outcomes = await attack(16, () => noisedInvalidCount(0, random));
  // The best guess: more likely "it happened" the larger the number.
  const right = outcomes.filter(({ bit, release }) => bit === release.invalid.estimate > 0).length;
  console.log(`with the rule the intruder is right in ${right} of ${outcomes.length} windows`);
  // ε = 0.1 makes at most 52.5% of guesses right: outside these bounds with probability 1e-6.
  expect(right).toBeGreaterThanOrEqual(3);
  expect(right).toBeLessThanOrEqual(29);
  for (const { release } of outcomes) expect(release.received).toBe(4);
});
