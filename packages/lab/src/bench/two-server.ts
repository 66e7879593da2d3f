import { Prio3Count as Peer } from "@divviup/prio3";
import { prio3Count } from "@lethe/core/two-server";
import { type Measurement, microseconds } from "./stopwatch.ts";

const bytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

/** Sharing a bit with its proof, and verifying it at either server, beside the same with the other implementation in JavaScript. */
export async function benchTwoServer(unit: () => number, report: (row: Measurement) => void): Promise<void> {
  const [ctx, nonce, verifyKey, rand] = [bytes(20), bytes(16), bytes(32), bytes(prio3Count.randBytes)];
  const none = new Uint8Array();
  const { inputShares } = prio3Count.shard(ctx, 1, nonce, rand);
  const shares = [0, 1].map((i) => {
    return prio3Count.verifyInit(verifyKey, ctx, i, nonce, none, inputShares[i] as Uint8Array).verifierShare;
  });
  /** Everything that a server does for a bit; the other's share has come. */
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

const ROUNDS = 8;
const CALLS = 200;

/** The best of several rounds, of something that promises its result. */
async function microsecondsOf(task: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let call = 0; call < CALLS; call++) await task();
    best = Math.min(best, (1000 * (performance.now() - start)) / CALLS);
  }
  return best;
}
