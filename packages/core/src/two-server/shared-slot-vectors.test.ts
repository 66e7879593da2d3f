import { readFileSync } from "node:fs";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { join } from "../bytes.ts";
import { nobleGroup, secret } from "../encryption/index.ts";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { sharingContext } from "../sharing/shared-bit.ts";
import { splitSharedSlots } from "../sharing/shared-slot.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { addAggregateShares } from "./aggregate-share.ts";
import { issueShareKeys, openSlots } from "./aggregator.ts";
import { prepareSlots, verdictOnSlots } from "./slot-verification.ts";

/** One report of slots shared in the exponent, from the device's stored state to both verdicts; bytes in hex. */
interface Vectors {
  readonly task: string;
  readonly window: number;
  readonly device: string;
  readonly reportId: string;
  readonly verifyKey: string;
  readonly masterSecrets: Readonly<Record<"leader" | "helper", string>>;
  /** Of the leader, then of the helper. */
  readonly publicKeys: string;
  /** The last stored state of each metric: an occurrence that happened, a funnel that stopped at its first step. */
  readonly states: readonly string[];
  /** The slots of the report, before they are split and wrapped. */
  readonly slots: string;
  /** What each server opens. */
  readonly elements: Readonly<Record<"leader" | "helper", readonly string[]>>;
  readonly verifiers: Readonly<Record<"leader" | "helper", string>>;
  readonly answers: readonly number[];
  /** What both servers count instead if a report is not valid. */
  readonly onNoEvent: readonly number[];
}

const file = new URL("../../vectors/shared-slots.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vectors;

const COMMON = { noise: "device", collusion: "one-server", ticks: 2, hides: 2 } as const;
const STATISTICS = [
  createTwoServerStatistic({ ...COMMON, statistic: "occurrence", localEpsilons: [1] }),
  createTwoServerStatistic({ ...COMMON, statistic: "funnel", steps: ["cart", "paid"], localEpsilon: 1 }),
] as const;

/** Everything in the file but what it starts from: after an intended change, this is what the file holds. */
function recomputed({ task, window, device, reportId, verifyKey, masterSecrets }: Vectors): Vectors {
  const at = { task, window };
  const [id, report] = [hexToBytes(device), hexToBytes(reportId)];
  const masterOf = (role: "leader" | "helper") => secret(hexToBytes(masterSecrets[role]));
  const publicKeys = join((["leader", "helper"] as const).map((role) => issueShareKeys(role, masterOf(role), at, id)));
  const states: Uint8Array[] = [];
  const sealed = STATISTICS.map((statistic, i) => {
    const recorder = statistic
      .device(new Uint8Array())
      .start(publicKeys, seededRandomnessForTests(`shared slots ${i}`));
    recorder.record(0);
    const state = recorder.write() as Uint8Array;
    states.push(state);
    return recorder.seal(state);
  });
  const slots = join(sealed);
  const halves = splitSharedSlots(slots);
  const openedBy = (role: "leader" | "helper") => openSlots(role, masterOf(role), at, id, halves[role]);
  const prepare = (role: "leader" | "helper") => {
    const context = { role, verifyKey: hexToBytes(verifyKey), ctx: sharingContext(at) };
    return prepareSlots(STATISTICS, context, { device: id, report }, openedBy(role), nobleGroup);
  };
  const elementsOf = (role: "leader" | "helper"): string[] => openedBy(role).map(({ element }) => bytesToHex(element));
  const [leader, helper] = [prepare("leader"), prepare("helper")];
  const verdicts = [
    verdictOnSlots(STATISTICS, leader, helper.verifier),
    verdictOnSlots(STATISTICS, helper, leader.verifier),
  ] as const;
  expect(verdicts.map(({ valid }) => valid)).toEqual([true, true]);
  return {
    task,
    window,
    device,
    reportId,
    verifyKey,
    masterSecrets,
    publicKeys: bytesToHex(publicKeys),
    states: states.map(bytesToHex),
    slots: bytesToHex(slots),
    elements: { leader: elementsOf("leader"), helper: elementsOf("helper") },
    verifiers: { leader: bytesToHex(leader.verifier), helper: bytesToHex(helper.verifier) },
    answers: addAggregateShares(verdicts[0].share, verdicts[1].share),
    onNoEvent: addAggregateShares(leader.outShare, helper.outShare),
  };
}

it("shared-slots.json holds what is computed afresh from its secrets and inputs", () => {
  expect(recomputed(vectors)).toStrictEqual(vectors);
  expect(vectors.answers).toHaveLength(4);
});
