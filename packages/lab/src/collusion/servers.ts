import {
  type DeviceKeyContext,
  deriveDeviceSecretKey,
  elgamalGroup,
  type RistrettoGroup,
  secret,
} from "@lethe/core/encryption";
import type { Randomness } from "@lethe/core/randomness";
import type { Recorder } from "@lethe/core/statistic";
import {
  addAggregateShares,
  createAggregator,
  createTwoServerStatistic,
  issueShareKeys,
  openSlots,
  type ServerRole,
  sharingContext,
  splitSharedSlots,
  type TwoServerSpec,
  wrapReport,
} from "@lethe/core/two-server";
import { deriveNodeWrappingKeys } from "@lethe/server/hpke";
import { loadRistretto } from "@lethe/server/ristretto";
import { bytesFrom } from "../randomness/bytes-from.ts";

/** What one server got of a report. */
export interface Received {
  /** Its half, opened. */
  readonly elements: readonly Uint8Array[];
  /** What it knows of the answer: 0 if nothing, else one more than a number that is different for every answer. */
  readonly answer: number;
  /** What the other server sent. */
  readonly verifier: Uint8Array;
}

/** A leader and a helper whose keys the lab holds, so that it can look at states as either of them could. */
export interface OpenServers {
  readonly events: readonly string[];
  enrol(device: Uint8Array): Recorder;
  resume(device: Uint8Array, stored: Uint8Array, sameTick: boolean): Recorder;
  /** What a server's keys open of the ciphertexts of a state: one group element after another. */
  open(role: ServerRole, device: Uint8Array, ciphertexts: Uint8Array): Uint8Array[];
  /** Wraps what a device sealed, has both servers verify it, and returns what each of them got. */
  submit(device: Uint8Array, sealed: Uint8Array): Promise<Readonly<Record<ServerRole, Received>>>;
}

/** The two servers. */
export const ROLES = ["leader", "helper"] as const;
const WINDOW = { task: "collusion", window: 0 } as const;
/** The servers compute as the service does. */
export const group: RistrettoGroup = await loadRistretto();

/** Bytes of a shared bit of Algorithm 5, and the masked elements of it that each server opens. */
const SHARED_BIT_BYTES = 128;
const MASKED: Readonly<Record<ServerRole, readonly number[]>> = { leader: [1, 2], helper: [3] };
const ELEMENT_BYTES = 32;

/** Two servers that count by this spec, with keys that no other servers have. */
export function openServers(spec: TwoServerSpec, random: Randomness): OpenServers {
  const statistic = createTwoServerStatistic(spec);
  const device = statistic.device(sharingContext(WINDOW));
  const againstCollusion = statistic.collusion !== undefined;
  const split = againstCollusion ? splitSharedSlots : undefined;
  const verifyKey = bytesFrom(random, 32);
  const created = ROLES.map((role) => {
    const master = secret(bytesFrom(random, 32));
    const wrapping = deriveNodeWrappingKeys(master, { ...WINDOW, role });
    const options = { ...WINDOW, role, statistics: [statistic], master, wrapping, verifyKey, random, group };
    return { role, master, wrapping, aggregator: createAggregator(options) };
  });
  const servers = { leader: created[0], helper: created[1] } as Record<ServerRole, (typeof created)[number]>;

  const keysOf = (id: Uint8Array): Uint8Array =>
    Uint8Array.from(ROLES.flatMap((role) => [...issueShareKeys(role, servers[role].master, WINDOW, id, group)]));

  function openBits(role: ServerRole, id: Uint8Array, bits: Uint8Array): Uint8Array[] {
    const keys = MASKED[role].map((_, index) => {
      const context: DeviceKeyContext = { ...WINDOW, device: id, role, index };
      return deriveDeviceSecretKey(elgamalGroup, servers[role].master, context).reveal();
    });
    const elementAt = (from: number, i: number): Uint8Array =>
      bits.subarray(from + i * ELEMENT_BYTES, from + (i + 1) * ELEMENT_BYTES);
    return Array.from({ length: bits.length / SHARED_BIT_BYTES }, (_, bit) => {
      const from = bit * SHARED_BIT_BYTES;
      const half = Buffer.concat([elementAt(from, 0), ...MASKED[role].map((i) => elementAt(from, i))]);
      return group.unmask(keys, half).elements;
    }).flat();
  }

  function open(role: ServerRole, id: Uint8Array, ciphertexts: Uint8Array): Uint8Array[] {
    if (!againstCollusion) return openBits(role, id, ciphertexts);
    const half = splitSharedSlots(ciphertexts)[role];
    return openSlots(role, servers[role].master, WINDOW, id, half, group).map(({ element }) => element);
  }

  /** With slots in the exponent both servers count the same, so twice one's share is the sum. */
  function counted(role: ServerRole): readonly number[] {
    const share = servers[role].aggregator.unfinished();
    return againstCollusion ? addAggregateShares(share, share) : [];
  }

  async function submit(id: Uint8Array, sealed: Uint8Array): Promise<Record<ServerRole, Received>> {
    const report = bytesFrom(random, 16);
    const { leader, helper } = servers;
    const publicKeys = { leader: leader.wrapping.publicKey, helper: helper.wrapping.publicKey };
    const halves = await wrapReport(publicKeys, { ...WINDOW, device: id, report }, sealed, random, split);
    const before = { leader: counted("leader"), helper: counted("helper") };
    const verifiers = {
      leader: await leader.aggregator.prepare(id, report, halves.leader),
      helper: await helper.aggregator.prepare(id, report, halves.helper),
    };
    const receivedBy = (role: ServerRole, verifier: Uint8Array): Received => {
      const valid = servers[role].aggregator.conclude(id, verifier);
      const answers = counted(role).map((count, i) => count - (before[role][i] as number));
      const answer = answers.reduce((sum, each, i) => sum + (i + 1) * each, 1);
      return { elements: open(role, id, sealed), answer: valid && againstCollusion ? answer : 0, verifier };
    };
    return { leader: receivedBy("leader", verifiers.helper), helper: receivedBy("helper", verifiers.leader) };
  }

  return {
    events: device.events,
    enrol: (id) => device.start(keysOf(id), random),
    resume: (id, stored, sameTick) => device.resume(keysOf(id), stored, sameTick, random),
    open,
    submit,
  };
}
