import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { temporaryFolder } from "../test/file-store-folder.ts";
import { startStoreProcess } from "../test/file-store-process.ts";
import { textsIn } from "../test/heap-snapshot.ts";

const [OCCURRENCE, HISTOGRAM] = ["quite.unlikely-occurrence", "quite.unlikely-histogram"];

/** How many events happen: no other number in the process is likely to be the same. */
const OCCURRED: Counted = {
  events: 74_093,
  task: {
    ...EXACT_TASK,
    task: "occurred",
    scheme: "lattice",
    metrics: [{ name: OCCURRENCE, statistic: "occurrence", localEpsilon: 1 }],
  },
};
const LIMITED: Counted = {
  events: 947,
  task: {
    ...EXACT_TASK,
    task: "limited",
    scheme: "lattice",
    ticks: 2,
    hides: 0,
    metrics: [{ name: HISTOGRAM, statistic: "mean", limit: 3, sigma: 1, eventsPerTick: 1000 }],
  },
};
/** An event takes about a millisecond. */
const SATURATED: Counted = {
  events: 4_093,
  task: {
    ...EXACT_TASK,
    task: "saturated",
    scheme: "elgamal",
    metrics: [{ name: HISTOGRAM, statistic: "histogram", edges: [0, 1, 3], localEpsilon: 1 }],
  },
};

interface Counted {
  readonly task: Task;
  readonly events: number;
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const { task } of [OCCURRED, LIMITED, SATURATED])
    expect((await asAdmin(service, "/v1/tasks", task)).status).toBe(201);
});
afterAll(() => service.remove());

/**
 * Records, looks at its own heap, writes since a tick is over, looks again. The control does the same with events that
 * happen zero times.
 */
const PROGRAM = ({ task: { task, tickSeconds, metrics }, events }: Counted, times: 0 | 1): string => `
  import { setTimeout as sleep } from "node:timers/promises";
  import { writeHeapSnapshot } from "node:v8";
  import { openLethe } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
  const inner = fileStore(folder);
  const versions = [];
  const store = { ...inner, save: (bytes, how) => (versions.push(Buffer.from(bytes)), inner.save(bytes, how)) };
  let now = ${service.clock()};
  const lethe = await openLethe({
    server: ${JSON.stringify(service.url)}, task: ${JSON.stringify(task)},
    operatorKey: ${JSON.stringify(service.operatorKey)}, clock: () => now, store,
  });
  while (lethe.inspect().memory.length === 0) {
    await sleep(20);
    now += 100;
    await lethe.sendPending();
  }
  function happen(name) {
    for (let left = 0x${events.toString(16)}; left > 0; left--) lethe.record(name, ${times});
  }
  for (const name of ${JSON.stringify(metrics.map(({ name }) => name))}) happen(name);
  const look = (file) => {
    writeHeapSnapshot(folder + "/" + file, { exposeNumericValues: true });
    const memory = lethe.inspect().memory.map(({ ciphertexts, eventsInTick }) => {
      const bytes = Buffer.from(ciphertexts);
      const pieces = Array.from({ length: Math.floor(bytes.length / 32) }, (_, i) => bytes.subarray(32 * i, 32 * i + 32));
      return { eventsInTick, pieces };
    });
    return {
      eventsInTick: memory.map(({ eventsInTick }) => eventsInTick),
      pieces: memory.flatMap(({ pieces }) => pieces).length,
      foundInStore: memory.flatMap(({ pieces }) => pieces).filter((piece) => versions.some((bytes) => bytes.includes(piece))).length,
      versions: versions.length,
      differentVersions: new Set(versions.map((bytes) => bytes.toString("hex"))).size,
    };
  };
  const inTick = look("in-tick");
  now += ${1000 * tickSeconds};
  await lethe.sendPending();
  const afterWrite = look("after-write");
  console.log(JSON.stringify({ inTick, afterWrite }));
  process.exit(0);`;

interface Look {
  readonly eventsInTick: readonly number[];
  readonly pieces: number;
  readonly foundInStore: number;
  readonly versions: number;
  readonly differentVersions: number;
}

interface Run {
  readonly inTick: Look;
  readonly afterWrite: Look;
  /** How often the number, and names of metrics, are in the heap, in the tick and after the write. */
  readonly numbers: readonly number[];
  readonly names: readonly number[];
}

async function run(counted: Counted, times: 0 | 1): Promise<Run> {
  const folder = temporaryFolder();
  const child = startStoreProcess(folder, PROGRAM(counted, times));
  const looks = JSON.parse((await child.line()) ?? "{}") as Pick<Run, "inTick" | "afterWrite">;
  expect(await child.ended).toBe(0);
  const heaps = ["in-tick", "after-write"].map((file) => textsIn(join(folder, file)));
  const count = (matches: (text: string) => boolean): number[] => heaps.map((texts) => texts.filter(matches).length);
  return {
    ...looks,
    numbers: count((text) => text === String(counted.events)),
    // The program's own text names them too.
    names: count((text) => /quite\.unlikely-/.test(text)),
  };
}

/**
 * What this sees: every number, text and closure that the SDK, or anything else in the process, holds on to. It does
 * not see the contents of ArrayBuffers, which are ciphertexts and keys; the stack; memory that was freed and not yet
 * overwritten.
 */
describe("nothing in memory shows how often something happened", () => {
  it("but for the counter of a tick where events are limited, which is zero after a write", async () => {
    const [control, counted] = [await run(LIMITED, 0), await run(LIMITED, 1)];
    console.log(JSON.stringify({ control, counted }));
    // The counter is there during the tick: the snapshot sees what a closure holds.
    expect(counted.inTick.eventsInTick).toEqual([LIMITED.events]);
    expect(counted.numbers).toEqual([1 + (control.numbers[0] ?? 0), control.numbers[1]]);
    expect(counted.afterWrite.eventsInTick).toEqual([0]);
    expect(counted.names).toEqual(control.names);
    requireUnlike(counted);
  });

  it.each([
    ["occurrences", OCCURRED],
    ["ElGamal", SATURATED],
  ])("where they are not, not even during the tick: %s", async (_, each) => {
    const [control, counted] = [await run(each, 0), await run(each, 1)];
    console.log(JSON.stringify({ control, counted }));
    expect(counted.inTick.eventsInTick).toEqual([0]);
    expect(counted.numbers).toEqual(control.numbers);
    expect(counted.names).toEqual(control.names);
    requireUnlike(counted);
  });
});

/** No 32 bytes of the memory's ciphertexts are in any version that was ever stored, before a write and after. */
function requireUnlike({ inTick, afterWrite }: Run): void {
  for (const { pieces, foundInStore, versions, differentVersions } of [inTick, afterWrite]) {
    expect(pieces).toBeGreaterThan(0);
    expect([foundInStore, differentVersions]).toEqual([0, versions]);
  }
  expect(afterWrite.versions).toBeGreaterThan(inTick.versions);
}
