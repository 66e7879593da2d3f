import { Prio3Count as Peer } from "@divviup/prio3";
import { randomnessFrom } from "@lethe/core/randomness";
import { prio3Count, type TwoServerSpec } from "@lethe/core/two-server";
import { measureCost } from "../simulate/cost.ts";
import { twoServers } from "../simulate/servers.ts";
import { type Measurement, microseconds, microsecondsAfter } from "./stopwatch.ts";

const random = randomnessFrom(globalThis.crypto);
const bytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

/** Statistics of two servers, and the proofs beneath them. */
export async function benchTwoServer(unit: () => number, report: (row: Measurement) => void): Promise<void> {
  await benchPrio3(unit, report);
  for (const [name, spec, metrics] of SPECS) await benchStatistic(name, spec, metrics, unit, report);
}

const TICKS = 288;
const WRITES = { ticks: TICKS, hides: 1000 } as const;
/** With slots shared in the exponent. */
const GUARDED = { noise: "device", collusion: "one-server", ...WRITES } as const;
const COUNTERS = 20;
/** What is measured. Times and sizes are divided by the number of metrics. */
const SPECS: readonly (readonly [name: string, spec: TwoServerSpec, metrics: number])[] = [
  ["a counter", { statistic: "occurrence", noise: "device", ...WRITES, localEpsilons: [1] }, 1],
  [
    `each of ${COUNTERS} counters`,
    { statistic: "occurrence", noise: "device", ...WRITES, localEpsilons: new Array<number>(COUNTERS).fill(1) },
    COUNTERS,
  ],
  [
    "histogram 0,1,2,5",
    { statistic: "histogram", noise: "device", ...WRITES, edges: [0, 1, 2, 5], localEpsilon: 1 },
    1,
  ],
  ["a counter, collusion one-server", { statistic: "occurrence", ...GUARDED, localEpsilons: [1] }, 1],
  [
    `each of ${COUNTERS} counters, collusion one-server`,
    { statistic: "occurrence", ...GUARDED, localEpsilons: new Array<number>(COUNTERS).fill(1) },
    COUNTERS,
  ],
  [
    "histogram 0,1,2,5, collusion one-server",
    { statistic: "histogram", ...GUARDED, edges: [0, 1, 2, 5], localEpsilon: 1 },
    1,
  ],
  [
    "choice of 7, collusion one-server",
    { statistic: "choice", ...GUARDED, options: ["a", "b", "c", "d", "e", "f", "g"], localEpsilon: 1 },
    1,
  ],
  ["mean up to 10", { statistic: "mean", noise: "servers", ...WRITES, limit: 10, sigma: 4 }, 1],
];

/** A device's write and seal, and what each server does with the report, for one metric. */
async function benchStatistic(
  name: string,
  spec: TwoServerSpec,
  metrics: number,
  unit: () => number,
  report: (row: Measurement) => void,
): Promise<void> {
  const servers = await twoServers(spec, random);
  const row = (what: string, value: number): void =>
    report({
      name: `two servers, ${name}: ${what}`,
      value: value / metrics,
      unit: "µs",
      ratio: value / metrics / unit(),
    });
  let recorder = servers.enrol(bytes(16));
  let writes = 0;
  const withRoom = (): void => {
    if (writes++ < TICKS) return;
    recorder = servers.enrol(bytes(16));
    recorder.write(); // builds the tables of its keys
    writes = 1;
  };
  row(
    "write",
    microsecondsAfter(withRoom, () => recorder.write()),
  );
  const { seal, open } = (await measureCost("elgamal", spec)) ?? {};
  row("seal, wrapping included", seal as number);
  row("open, verify and count, both servers", open as number);
  for (const [what, value] of Object.entries(servers.bytes)) {
    if (what === "publicKey") continue;
    report({ name: `two servers, ${name}: ${what}`, value: value / metrics, unit: "bytes" });
  }
}

/** Sharing a bit with its proof and verifying it at either server, beside the other implementation in JavaScript. */
async function benchPrio3(unit: () => number, report: (row: Measurement) => void): Promise<void> {
  const [ctx, nonce, verifyKey, rand] = [bytes(20), bytes(16), bytes(32), bytes(prio3Count.randBytes)];
  const none = new Uint8Array();
  const { inputShares } = prio3Count.shard(ctx, 1, nonce, rand);
  const shares = [0, 1].map((i) => {
    return prio3Count.verifyInit(verifyKey, ctx, i, nonce, none, inputShares[i] as Uint8Array).verifierShare;
  });
  /** All that a server does for a bit once the other's share has arrived. */
  const verify = (server: number): void => {
    const { state } = prio3Count.verifyInit(verifyKey, ctx, server, nonce, none, inputShares[server] as Uint8Array);
    prio3Count.verifyNext(state, prio3Count.verifierSharesToMessage(ctx, shares));
  };
  const shard = microseconds(() => void prio3Count.shard(ctx, 1, nonce, rand));
  const [leader, helper] = [0, 1].map((server) => microseconds(() => verify(server))) as [number, number];
  const peer = await measurePeer();
  const row = (name: string, value: number): void => report({ name, value, unit: "µs", ratio: value / unit() });
  row("Prio3Count: share a bit, with proof", shard);
  row("Prio3Count: verify a bit at the leader", leader);
  row("Prio3Count: verify a bit at the helper", helper);
  row("@divviup/prio3: share a bit, with proof", peer.shard);
  row("@divviup/prio3: verify a bit at the leader", peer.leader);
  row("@divviup/prio3: verify a bit at the helper", peer.helper);
  const timesAsFast = (what: string, value: number): void =>
    report({ name: `Prio3Count: times as fast as @divviup/prio3, ${what}`, value, unit: "ratio" });
  timesAsFast("sharing", peer.shard / shard);
  timesAsFast("verifying at the leader", peer.leader / leader);
  timesAsFast("verifying at the helper", peer.helper / helper);
}

async function measurePeer(): Promise<Record<"shard" | "leader" | "helper", number>> {
  const peer = new Peer({ shares: 2 });
  const [nonce, key, rand] = [16, peer.verifyKeySize, peer.randSize].map((length) => Buffer.from(bytes(length))) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const { publicShare, inputShares } = await peer.shard(true, nonce, rand);
  const init = (i: number) =>
    peer.prepareInit(key, i, null, nonce, publicShare, inputShares[i] as (typeof inputShares)[number]);
  const shares = [(await init(0)).preparationShare, (await init(1)).preparationShare];
  const verify = async (server: number): Promise<void> => {
    const { preparationState } = await init(server);
    peer.prepareNext(preparationState, await peer.unshardPreparationShares(null, shares));
  };
  return {
    shard: await microsecondsOf(() => peer.shard(true, nonce, rand)),
    leader: await microsecondsOf(() => verify(0)),
    helper: await microsecondsOf(() => verify(1)),
  };
}

const ROUNDS = 25;
const CALLS = 200;

/** The best time of several rounds, for an asynchronous task. */
async function microsecondsOf(task: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let call = 0; call < CALLS; call++) await task();
    best = Math.min(best, (1000 * (performance.now() - start)) / CALLS);
  }
  return best;
}
