import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openedBy, SHARED_SLOT_BYTES, sealedBy, slotsOf, wrapSlots } from "../../test/shared-slots.ts";
import {
  deviceNumber,
  issueKeys,
  MASTERS,
  ROLES,
  random,
  randomBytes,
  startServers,
  VERIFY_KEY,
  WINDOW,
  wrap,
} from "../../test/two-server.ts";
import type { ServerRole } from "../sharing/shared-bit.ts";
import { finalState } from "../statistic/automaton/automaton.ts";
import { choiceAutomaton } from "../statistic/choice/choice.ts";
import { createTwoServerStatistic } from "../statistic/create-two-server.ts";
import { funnelAutomaton } from "../statistic/funnel/funnel.ts";
import { bucketOf } from "../statistic/histogram/histogram.ts";
import type { CollusionSpec } from "../statistic/spec.ts";
import type { TwoServerStatistic } from "../statistic/two-server.ts";
import { createAggregator, type PreparedHalf, prepareReport } from "./index.ts";
import { deriveWrappingKeys } from "./wrapping.ts";

/** At ε₀ = 20 an answer is the truth but for 2·10⁻⁹; all of these tests open fewer than 200. */
const COMMON = { noise: "device", collusion: "one-server", ticks: 2, hides: 3 } as const;
const OCCURRENCE: CollusionSpec = { ...COMMON, statistic: "occurrence", events: ["a", "b"], localEpsilons: [20, 20] };
const HISTOGRAM: CollusionSpec = { ...COMMON, statistic: "histogram", edges: [0, 1, 3], localEpsilon: 20 };
const CHOICE: CollusionSpec = { ...COMMON, statistic: "choice", options: ["x", "y"], keep: "last", localEpsilon: 20 };
const FUNNEL: CollusionSpec = { ...COMMON, statistic: "funnel", steps: ["x", "y"], localEpsilon: 20 };

const oneHot = (length: number, hot: number): number[] => Array.from({ length }, (_, i) => Number(i === hot));

/** What a device truly adds to the sums, after these events, by their numbers. */
function truthOf(spec: CollusionSpec, events: readonly number[]): number[] {
  if (spec.statistic === "occurrence") return [0, 1].map((event) => Number(events.includes(event)));
  if (spec.statistic === "histogram") return oneHot(3, bucketOf(spec.edges, events.length));
  const automaton = spec.statistic === "choice" ? choiceAutomaton(spec) : funnelAutomaton(spec);
  return oneHot(
    3,
    finalState(
      automaton,
      events.map((event) => ({ event, tick: 0 })),
    ),
  );
}

describe("a device against an intruder with one server's keys", () => {
  it.each([OCCURRENCE, HISTOGRAM, CHOICE, FUNNEL])("reports what plain execution says: $statistic", async (spec) => {
    const statistic = createTwoServerStatistic(spec);
    const { events } = statistic.device(new Uint8Array());
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat({ max: events.length - 1 }), fc.constantFrom("write", "resume")), { maxLength: 6 }),
        async (story) => {
          const [device, servers] = [deviceNumber(5), await startServers([statistic])];
          const side = statistic.device(new Uint8Array());
          let recorder = side.start(issueKeys(device), random);
          const happened: number[] = [];
          let writes = 0;
          for (const step of story) {
            if (typeof step === "number") {
              recorder.record(step);
              happened.push(step);
            } else if (writes < 3) {
              const stored = recorder.write({ endsTick: false }) as Uint8Array;
              writes++;
              if (step === "resume") recorder = side.resume(issueKeys(device), stored, true, random);
            }
          }
          const sealed = recorder.seal(recorder.write() as Uint8Array);
          expect(sealed.length).toBe(statistic.answerOf.length * SHARED_SLOT_BYTES);
          expect(await servers.decide(await wrapSlots(device, sealed))).toEqual({ leader: true, helper: true });
          expect(servers.sums()).toEqual(truthOf(spec, happened));
        },
      ),
      { numRuns: 3 },
    );
  });

  it("stores other slots at every write, of which one server opens other elements, event or not", () => {
    const statistic = createTwoServerStatistic(HISTOGRAM);
    const device = deviceNumber(6);
    const recorder = statistic.device(new Uint8Array()).start(issueKeys(device), random);
    const states = [0, 1, 0].map((events) => {
      for (let i = 0; i < events; i++) recorder.record(0);
      return recorder.write({ endsTick: false }) as Uint8Array;
    });
    const seen = [...states.map(slotsOf), recorder.inspect().ciphertexts];
    for (const role of ROLES) {
      const opened = seen.flatMap((slots) => openedBy(role, device, slots).map(({ element }) => element.join()));
      expect(new Set(opened).size).toBe(4 * seen.length);
    }
  });

  it("has an answer that is K-ary response, whatever has more categories than that is best for", () => {
    const options = Array.from({ length: 30 }, (_, i) => `option-${i}`);
    const { mechanism, localEpsilon } = createTwoServerStatistic({
      ...CHOICE,
      options,
      localEpsilon: 0.5,
    } as CollusionSpec);
    expect([mechanism, localEpsilon() <= 0.5]).toEqual(["kary", true]);
  });
});

describe("what cannot run is refused", () => {
  const refusal = (spec: object): string => {
    try {
      createTwoServerStatistic(spec as CollusionSpec);
      return "nothing";
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      return (error as Error).message;
    }
  };

  it("noise of the servers, with the reason", () => {
    expect(refusal({ ...OCCURRENCE, noise: "servers", sigmas: [4] })).toMatch(
      /^noise is device where collusion is one-server: .* cannot be checked.*2\^200/,
    );
  });

  it("other statistics, other mechanisms, other collusions", () => {
    expect(refusal({ ...COMMON, statistic: "mean", limit: 3, sigma: 1 })).toMatch(
      /^statistic is one of occurrence, histogram, choice, funnel/,
    );
    expect(refusal({ ...HISTOGRAM, mechanism: "unary" })).toMatch(/^mechanism is kary/);
    expect(refusal({ ...HISTOGRAM, collusion: "two-servers" })).toMatch(/^collusion is none or one-server/);
  });

  it("more states than a device rerandomizes at every write", () => {
    expect(refusal({ ...HISTOGRAM, edges: [0, 63] })).toBe("nothing");
    expect(refusal({ ...HISTOGRAM, edges: [0, 64] })).toMatch(/^edges takes 65 states, and a device keeps at most 64/);
    const options = Array.from({ length: 64 }, (_, i) => `option-${i}`);
    expect(refusal({ ...CHOICE, options })).toMatch(/^options takes 65 states/);
  });

  it("statistics with it beside statistics without", async () => {
    const plain = createTwoServerStatistic({ statistic: "occurrence", noise: "device", ticks: 2, localEpsilons: [1] });
    const servers = await startServers([createTwoServerStatistic(OCCURRENCE), plain]);
    await expect(servers.leader.prepare(deviceNumber(1), randomBytes(16), randomBytes(99))).rejects.toThrow(RangeError);
  });
});

describe("both servers", () => {
  const statistics = [createTwoServerStatistic(OCCURRENCE), createTwoServerStatistic(HISTOGRAM)];
  const [occurrence, histogram] = statistics as [TwoServerStatistic, TwoServerStatistic];
  const sealed = (device: Uint8Array): Uint8Array =>
    Uint8Array.from([
      ...sealedBy(occurrence, device, (recorder) => recorder.record(1)),
      ...sealedBy(histogram, device, (recorder) => recorder.record(0, 2)),
    ]);

  it("count the very same: their shares are equal, and half of the sums", async () => {
    const servers = await startServers(statistics);
    for (const number of [1, 2, 3]) {
      const device = deviceNumber(number);
      const report = await wrapSlots(device, sealed(device));
      const sent = number === 3 ? { ...report, helper: randomBytes(9) } : report;
      expect(await servers.decide(sent)).toEqual({ leader: number < 3, helper: number < 3 });
    }
    expect(servers.leader.unfinished()).toEqual(servers.helper.unfinished());
    // Two reports, and for the third "no event".
    expect(servers.sums()).toEqual([0, 2, 1, 2, 0]);
    expect(servers.leader.close()).toEqual(servers.helper.close());
  });

  it("open one report per device: the same bytes again give the same, others are refused", async () => {
    const servers = await startServers(statistics);
    const device = deviceNumber(4);
    const [first, second] = [await wrapSlots(device, sealed(device)), await wrapSlots(device, sealed(device))];
    const verifier = await servers.leader.prepare(device, first.report, first.leader);
    expect(await servers.leader.prepare(device, first.report, first.leader)).toEqual(verifier);
    for (const [report, half] of [
      [second.report, second.leader],
      [first.report, second.leader],
      [second.report, first.leader],
    ] as const) {
      await expect(servers.leader.prepare(device, report, half)).rejects.toMatchObject({ code: "report-differs" });
    }
    expect(await servers.decide(first)).toEqual({ leader: true, helper: true });
    expect(await servers.decide(first)).toEqual({ leader: true, helper: true });
    expect(servers.sums()).toEqual([0, 1, 0, 1, 0]);
  });

  it("go on from what they stored, and prepare the same of the same half", async () => {
    const device = deviceNumber(7);
    const { report, ...halves } = await wrapSlots(device, sealed(device));
    const prepared = async (role: ServerRole): Promise<PreparedHalf> =>
      prepareReport(
        {
          ...WINDOW,
          role,
          statistics,
          master: MASTERS[role],
          wrapping: await deriveWrappingKeys(MASTERS[role], { ...WINDOW, role }),
          verifyKey: VERIFY_KEY,
        },
        { device, report },
        halves[role],
      );
    expect(await prepared("leader")).toEqual(await prepared("leader"));
    const [leader, helper] = [await prepared("leader"), await prepared("helper")];
    const before = createAggregator({ role: "helper", statistics, random, prepare: () => helper });
    await before.prepare(device, report, halves.helper);
    expect(before.conclude(device, leader.verifier)).toBe(true);
    const after = createAggregator({
      role: "helper",
      statistics,
      random,
      prepare: () => helper,
      stored: before.unfinished(),
    });
    expect(after.close()).toEqual(before.close());
  });

  it("draw the same answers on no event, which differ from device to device and from report to report", async () => {
    const noisy = createTwoServerStatistic({
      ...OCCURRENCE,
      localEpsilons: new Array<number>(64).fill(0.1),
      events: undefined,
    } as CollusionSpec);
    const draws = new Set<string>();
    for (const [number, id] of [
      [1, 1],
      [1, 2],
      [2, 1],
    ] as const) {
      const servers = await startServers([noisy]);
      const garbage = { ...(await wrap(deviceNumber(number), new Uint8Array(), { report: deviceNumber(id) })) };
      expect(await servers.decide(garbage)).toEqual({ leader: false, helper: false });
      expect(servers.leader.unfinished()).toEqual(servers.helper.unfinished());
      draws.add(servers.sums().join());
    }
    // Two draws of 64 coins that are nearly fair are equal once in 10¹⁹.
    expect(draws.size).toBe(3);
  });
});
