import { readdirSync, readFileSync } from "node:fs";
import { createPrio3Count, type Prio3Count, prio3Count, type VerifyState } from "@lethe/core/two-server";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

interface Vector {
  readonly agg_result: number | null;
  readonly agg_shares: readonly string[];
  readonly ctx: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly aggregator_id?: number;
    readonly report_index?: number;
    readonly success: boolean;
  }[];
  readonly reports: readonly {
    readonly input_shares: readonly string[];
    readonly measurement: number | null;
    readonly nonce: string;
    readonly out_shares: readonly string[];
    readonly public_share: string;
    readonly rand: string;
    readonly verifier_messages: readonly string[];
    readonly verifier_shares: readonly (readonly string[])[];
  }[];
  readonly shares: number;
  readonly verify_key: string;
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const folder = new URL("../../vectors/vdaf/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.startsWith("Prio3Count"));

describe.each(names)("the official vector %s", (name) => {
  const vector = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Vector;
  const { shard, verifyInit, verifierSharesToMessage, verifyNext, aggregate, unshard } = createPrio3Count(
    vector.shares,
  );
  const ctx = bytesOf(vector.ctx);
  const states = new Map<string, VerifyState>();

  it.each(vector.operations.map((operation, i) => [`${i}: ${operation.operation}`, operation] as const))(
    "%s",
    (_title, { operation, aggregator_id: aggregator = 0, report_index: index = 0, success }) => {
      const report = vector.reports[index] as Vector["reports"][number];
      const nonce = bytesOf(report.nonce);
      const perform: Record<string, () => void> = {
        shard: () => {
          const { publicShare, inputShares } = shard(ctx, report.measurement as number, nonce, bytesOf(report.rand));
          expect(textOf(publicShare)).toBe(report.public_share);
          expect(inputShares.map(textOf)).toEqual(report.input_shares);
        },
        verify_init: () => {
          const { state, verifierShare } = verifyInit(
            bytesOf(vector.verify_key),
            ctx,
            aggregator,
            nonce,
            bytesOf(report.public_share),
            bytesOf(report.input_shares[aggregator] as string),
          );
          states.set(`${index} ${aggregator}`, state);
          expect(textOf(verifierShare)).toBe(report.verifier_shares[0]?.[aggregator]);
        },
        verifier_shares_to_message: () => {
          const shares = (report.verifier_shares[0] as readonly string[]).map(bytesOf);
          expect(textOf(verifierSharesToMessage(ctx, shares))).toBe(report.verifier_messages[0]);
        },
        verify_next: () => {
          const state = states.get(`${index} ${aggregator}`) as VerifyState;
          const outShare = verifyNext(state, bytesOf(report.verifier_messages[0] as string));
          expect(textOf(outShare)).toBe(report.out_shares[aggregator]);
        },
        aggregate: () => {
          const outShares = vector.reports.map(({ out_shares }) => bytesOf(out_shares[aggregator] as string));
          expect(textOf(aggregate(outShares))).toBe(vector.agg_shares[aggregator]);
        },
        unshard: () => {
          expect(unshard(vector.agg_shares.map(bytesOf), vector.reports.length)).toBe(vector.agg_result);
        },
      };
      const run = perform[operation] as () => void;
      if (success) run();
      else expect(run).toThrow(expect.objectContaining({ name: "LetheError", code: "bad-proof" }));
    },
  );
});

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
const CTX = new TextEncoder().encode("a task and its window");

/** The verifier shares of all aggregators. */
function verify(vdaf: Prio3Count, key: Uint8Array, nonce: Uint8Array, shares: readonly Uint8Array[]): Uint8Array[] {
  return shares.map((share, i) => vdaf.verifyInit(key, CTX, i, nonce, new Uint8Array(), share).verifierShare);
}

it("bits of many devices add up, whatever the number of aggregators", () => {
  for (const shares of [2, 3, 5]) {
    const vdaf = createPrio3Count(shares);
    const key = random(32);
    const bits = Array.from({ length: 40 }, (_, i) => Number(i % 3 === 0));
    const outShares: Uint8Array[][] = Array.from({ length: shares }, () => []);
    for (const bit of bits) {
      const nonce = random(16);
      const { publicShare, inputShares } = vdaf.shard(CTX, bit, nonce, random(vdaf.randBytes));
      const inits = inputShares.map((share, i) => vdaf.verifyInit(key, CTX, i, nonce, publicShare, share));
      const message = vdaf.verifierSharesToMessage(
        CTX,
        inits.map(({ verifierShare }) => verifierShare),
      );
      for (const [i, { state }] of inits.entries()) outShares[i]?.push(vdaf.verifyNext(state, message));
    }
    expect(vdaf.unshard(outShares.map(vdaf.aggregate), bits.length)).toBe(14);
  }
});

it("a sharing made earlier verifies under any nonce, since nothing binds it to one", () => {
  const { inputShares } = prio3Count.shard(CTX, 1, random(16), random(64));
  expect(() =>
    prio3Count.verifierSharesToMessage(CTX, verify(prio3Count, random(32), random(16), inputShares)),
  ).not.toThrow();
});

it("whatever is changed in a leader's share, it is refused, as encoding or as proof", () => {
  fc.assert(
    fc.property(fc.nat(47), fc.integer({ min: 1, max: 255 }), fc.constantFrom(0, 1), (at, change, bit) => {
      const [leader, helper] = prio3Count.shard(CTX, bit, random(16), random(64)).inputShares as [
        Uint8Array,
        Uint8Array,
      ];
      const altered = leader.slice();
      altered[at] = (altered[at] as number) ^ change;
      expect(() =>
        prio3Count.verifierSharesToMessage(CTX, verify(prio3Count, random(32), random(16), [altered, helper])),
      ).toThrow(/bit|field element/);
    }),
  );
});

it("shares of two sharings, of another context, or in the wrong place do not fit", () => {
  const share = (): readonly Uint8Array[] => prio3Count.shard(CTX, 1, random(16), random(64)).inputShares;
  const [[leader], [, helper]] = [share(), share()] as [[Uint8Array], [Uint8Array, Uint8Array]];
  const refuse = (shares: readonly Uint8Array[]): void => {
    const verifiers = verify(prio3Count, random(32), random(16), shares);
    expect(() => prio3Count.verifierSharesToMessage(CTX, verifiers)).toThrow("not shares of a bit");
  };
  refuse([leader, helper]);
  const other = prio3Count.shard(new Uint8Array([1]), 1, random(16), random(64)).inputShares;
  refuse(other);
  const key = random(32);
  const own = share();
  const [a] = verify(prio3Count, key, random(16), own);
  const [, b] = verify(prio3Count, key, random(16), own);
  expect(() => prio3Count.verifierSharesToMessage(CTX, [a as Uint8Array, b as Uint8Array])).toThrow("bit");
});

describe("what is no bit", () => {
  const MODULUS = 2n ** 64n - 2n ** 32n + 1n;
  const read = (bytes: Uint8Array): bigint => Buffer.from(bytes).readBigUInt64LE();
  const write = (value: bigint): Uint8Array => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(((value % MODULUS) + MODULUS) % MODULUS);
    return new Uint8Array(bytes);
  };

  /**
   * An honest proof of a 0, but for the measurement, and for the product at −1 so that the circuit gives 0: the best a
   * cheat can do.
   */
  it.each([2n, -1n, 1_000_000n, MODULUS - 1n])(
    "as %s is refused, even with a product that fits the circuit",
    (value) => {
      const [leader, helper] = prio3Count.shard(CTX, 0, random(16), random(64)).inputShares as [Uint8Array, Uint8Array];
      const forged = leader.slice();
      forged.set(write(read(leader.subarray(0, 8)) + value), 0);
      forged.set(write(read(leader.subarray(40)) + value), 40);
      const verifiers = verify(prio3Count, random(32), random(16), [forged, helper]);
      expect(() => prio3Count.verifierSharesToMessage(CTX, verifiers)).toThrow("not shares of a bit");
    },
  );
});

it("refuses arguments of the wrong form", () => {
  expect(() => createPrio3Count(1)).toThrow(RangeError);
  expect(() => createPrio3Count(256)).toThrow(RangeError);
  expect(() => prio3Count.shard(CTX, 2, random(16), random(64))).toThrow(RangeError);
  expect(() => prio3Count.shard(CTX, 1, random(15), random(64))).toThrow("nonce");
  expect(() => prio3Count.shard(CTX, 1, random(16), random(63))).toThrow("randomness");
  const { inputShares } = prio3Count.shard(CTX, 1, random(16), random(64));
  const init = (id: number, share: Uint8Array): unknown =>
    prio3Count.verifyInit(random(32), CTX, id, random(16), new Uint8Array(), share);
  expect(() => init(2, inputShares[1] as Uint8Array)).toThrow(RangeError);
  expect(() => init(0, inputShares[1] as Uint8Array)).toThrow("48");
  expect(() => init(0, new Uint8Array(48).fill(255))).toThrow("field element");
  expect(() => prio3Count.verifierSharesToMessage(CTX, [random(32)])).toThrow(RangeError);
  expect(() => prio3Count.unshard([new Uint8Array(8).fill(1), new Uint8Array(8)], 10)).toThrow("more than 10");
});

it("takes contexts of many blocks, and refuses those whose length its tag cannot hold", () => {
  for (const length of [0, 1, 200, 65_527]) {
    const ctx = new Uint8Array(length).fill(3);
    const { inputShares } = prio3Count.shard(ctx, 1, random(16), random(64));
    const [key, nonce] = [random(32), random(16)];
    const shares = inputShares.map(
      (share, i) => prio3Count.verifyInit(key, ctx, i, nonce, new Uint8Array(), share).verifierShare,
    );
    expect(prio3Count.isProven(shares)).toBe(true);
  }
  expect(() => prio3Count.shard(new Uint8Array(65_528), 1, random(16), random(64))).toThrow(RangeError);
});
