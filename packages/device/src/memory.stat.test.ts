import { join } from "node:path";
import type { Task } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asAdmin, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { temporaryFolder } from "../test/file-store-folder.ts";
import { startStoreProcess } from "../test/file-store-process.ts";
import { textsIn, variablesIn } from "../test/heap-snapshot.ts";

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
  events: 487,
  task: {
    ...EXACT_TASK,
    task: "limited",
    scheme: "lattice",
    ticks: 2,
    hides: 2,
    metrics: [{ name: HISTOGRAM, statistic: "mean", limit: 3, sigma: 1, eventsPerTick: 500 }],
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

/** What causes a write, and how a program brings it about. Only a tick's write is not one of the hides. */
const WRITES: Readonly<Record<string, (task: Task) => string>> = {
  session: () => "now += 1000; await lethe.sendPending();",
  hide: () => `page.dispatchEvent(new Event("pagehide"));`,
  tick: ({ tickSeconds }) => `now += ${1000 * tickSeconds}; await lethe.sendPending();`,
};

/** For a program: pages with a clock that is moved manually, and how they wait until they count. */
const PAGES = ({ task }: Task): string => `
  import { setTimeout as sleep } from "node:timers/promises";
  import { writeHeapSnapshot } from "node:v8";
  import { memoryStore, openLethe } from ${built("index.js")};
  let now = ${service.clock()};
  const look = (file) => writeHeapSnapshot(folder + "/" + file, { exposeNumericValues: true });
  const newPage = () => {
    const page = new EventTarget();
    globalThis.addEventListener = page.addEventListener.bind(page);
    return page;
  };
  const open = (store) => openLethe({
    server: ${JSON.stringify(service.url)}, task: ${JSON.stringify(task)},
    operatorKey: ${JSON.stringify(service.operatorKey)}, clock: () => now, store, onProblem: () => {},
  });
  const counts = async (lethe) => {
    while (lethe.inspect().memory.length === 0) {
      await sleep(20);
      now += 100;
      await lethe.sendPending();
    }
  };`;

const built = (file: string): string => JSON.stringify(new URL(`../dist/${file}`, import.meta.url).href);

/**
 * Records, looks at its own heap, writes, looks again; and so for each cause of a write. The control does the same with
 * events that happen zero times.
 */
const PROGRAM = ({ task, events }: Counted, times: 0 | 1): string => `
  ${PAGES(task)}
  const inner = fileStore(folder);
  const versions = [];
  const store = { ...inner, save: (bytes, how) => (versions.push(Buffer.from(bytes)), inner.save(bytes, how)) };
  const page = newPage();
  const lethe = await open(store);
  await counts(lethe);
  function happen(name) {
    for (let left = 0x${events.toString(16)}; left > 0; left--) lethe.record(name, ${times});
  }
  const lookAt = (file) => {
    look(file);
    const memory = lethe.inspect().memory.map(({ ciphertexts, eventsInTick, left }) => {
      const bytes = Buffer.from(ciphertexts);
      const pieces = Array.from({ length: Math.floor(bytes.length / 32) }, (_, i) => bytes.subarray(32 * i, 32 * i + 32));
      return { eventsInTick, left, pieces };
    });
    return {
      eventsInTick: memory.map(({ eventsInTick }) => eventsInTick),
      writesLeft: memory[0].left.writes,
      hidesLeft: memory[0].left.hides,
      pieces: memory.flatMap(({ pieces }) => pieces).length,
      foundInStore: memory.flatMap(({ pieces }) => pieces).filter((piece) => versions.some((bytes) => bytes.includes(piece))).length,
      versions: versions.length,
      differentVersions: new Set(versions.map((bytes) => bytes.toString("hex"))).size,
    };
  };
  const looks = [];
  ${Object.entries(WRITES)
    .map(
      ([cause, write]) => `
  for (const name of ${JSON.stringify(task.metrics.map(({ name }) => name))}) happen(name);
  looks.push(lookAt("${cause}-before"));
  ${write(task)}
  looks.push(lookAt("${cause}-after"));`,
    )
    .join("")}
  console.log(JSON.stringify(looks));
  process.exit(0);`;

interface Look {
  readonly eventsInTick: readonly number[];
  readonly writesLeft: number;
  readonly hidesLeft: number;
  readonly pieces: number;
  readonly foundInStore: number;
  readonly versions: number;
  readonly differentVersions: number;
}

/** Before each write and after it, in the order of `WRITES`. */
interface Run {
  readonly looks: readonly Look[];
  /** How often the number, and names of metrics, are in the heap. */
  readonly numbers: readonly number[];
  readonly names: readonly number[];
}

async function run(counted: Counted, times: 0 | 1): Promise<Run> {
  const folder = temporaryFolder();
  const child = startStoreProcess(folder, PROGRAM(counted, times));
  const looks = JSON.parse((await child.line()) ?? "[]") as Look[];
  expect(await child.ended).toBe(0);
  const files = Object.keys(WRITES).flatMap((cause) => [`${cause}-before`, `${cause}-after`]);
  const heaps = files.map((file) => textsIn(join(folder, file)));
  const count = (matches: (text: string) => boolean): number[] => heaps.map((texts) => texts.filter(matches).length);
  return {
    looks,
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
describe("nothing in memory shows how often something happened, whatever causes the writes", () => {
  // Something else in one of the processes may be 487 by chance.
  it("but for the counter of a segment where events are limited, which is zero after a write", {
    retry: 3,
  }, async () => {
    const [control, counted] = [await run(LIMITED, 0), await run(LIMITED, 1)];
    console.log(JSON.stringify({ control, counted }));
    const [before, after] = [[LIMITED.events], [0]];
    expect(counted.looks.map(({ eventsInTick }) => eventsInTick)).toEqual([
      before,
      after,
      before,
      after,
      before,
      after,
    ]);
    // The counter is there during the segment: the snapshot sees what a closure holds.
    expect(counted.numbers).toEqual(control.numbers.map((number, i) => (i % 2 === 0 ? number + 1 : number)));
    expect(counted.names).toEqual(control.names);
    requireWrites(counted);
  });

  it.each([
    ["occurrences", OCCURRED],
    ["ElGamal", SATURATED],
  ])("where they are not, not even during the segment: %s", async (_, each) => {
    const [control, counted] = [await run(each, 0), await run(each, 1)];
    console.log(JSON.stringify({ control, counted }));
    for (const { eventsInTick } of counted.looks) expect(eventsInTick).toEqual([0]);
    expect(counted.numbers).toEqual(control.numbers);
    expect(counted.names).toEqual(control.names);
    requireWrites(counted);
  });
});

/**
 * Each cause made one write, of its kind. No 32 bytes of the memory's ciphertexts are in any version that was ever
 * stored, before a write and after.
 */
function requireWrites({ looks }: Run): void {
  for (const { pieces, foundInStore, versions, differentVersions } of looks) {
    expect(pieces).toBeGreaterThan(0);
    expect([foundInStore, differentVersions]).toEqual([0, versions]);
  }
  for (const [i, cause] of Object.keys(WRITES).entries()) {
    const [before, after] = looks.slice(2 * i) as [Look, Look];
    // The program may have enrolled in the next window as well.
    expect(after.versions).toBeGreaterThan(before.versions);
    expect(after.writesLeft).toBe(before.writesLeft - 1);
    expect(after.hidesLeft).toBe(before.hidesLeft - (cause === "tick" ? 0 : 1));
  }
}

/**
 * Two tabs in one process, so one snapshot shows what either holds. One writes; the other passes on events, waits until
 * all are acknowledged, and a tick ends. Then the page of the one that writes is left, and nobody takes three more.
 */
const TABS = (task: Task, events: number): string => `
  ${PAGES(task)}
  import { tabsOf } from ${built("store/tabs.js")};
  const page = newPage();
  const writing = await open({ ...fileStore(folder), tabs: tabsOf("tabs") });
  await counts(writing);
  newPage();
  const tabs = tabsOf("tabs");
  const waiting = await open({ ...memoryStore(), tabs, lock: () => new Promise(() => {}) });
  await waiting.ready;
  for (let left = 0x${events.toString(16)}; left > 0; left--) waiting.record("${OCCURRENCE}");
  // The writer answers this after it has acknowledged what came before.
  await new Promise((resolve) => tabs.listen(resolve));
  ${WRITES.tick?.(task).replace("lethe", "writing")}
  look("acknowledged");
  page.dispatchEvent(new Event("pagehide"));
  for (let i = 0; i < 3; i++) waiting.record("${OCCURRENCE}");
  look("kept");
  console.log(JSON.stringify(waiting.inspect()));
  process.exit(0);`;

interface TabsRun {
  readonly inspected: unknown;
  /** What either tab holds once all are acknowledged, and while three are kept; a random id is "id" here. */
  readonly held: readonly (readonly string[])[];
  /** How often ids and the name are in the whole heap, at the same times. */
  readonly ids: readonly number[];
  readonly names: readonly number[];
}

async function runTabs(events: number): Promise<TabsRun> {
  const folder = temporaryFolder();
  const child = startStoreProcess(folder, TABS(OCCURRED.task, events));
  const inspected: unknown = JSON.parse((await child.line()) ?? "{}");
  expect(await child.ended).toBe(0);
  const files = ["acknowledged", "kept"].map((file) => join(folder, file));
  const heaps = files.map(textsIn);
  // An id is made of pieces, which the engine joins when it likes: when it collects garbage, for example.
  const ROPE = "concatenated string (concatenated string) 32";
  const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
  return {
    inspected,
    held: files.map((file) =>
      variablesIn(file, "hear")
        .map((tab) => JSON.stringify(tab).replace(ID, "id").replace(ROPE, "string id 56"))
        .toSorted(),
    ),
    ids: heaps.map((texts) => texts.filter((text) => text.length === 36 && ID.test(text)).length),
    names: heaps.map((texts) => texts.filter((text) => text === OCCURRENCE).length),
  };
}

it("a tab that waits, and the one that writes, hold the same after any number of events that were passed on", async () => {
  const [none, ...others] = [await runTabs(0), await runTabs(1), await runTabs(50), await runTabs(4_093)];
  for (const other of others) expect(other).toEqual(none);
  expect(none.inspected).toEqual({ memory: [] });
  // The snapshot shows variables of both tabs; at first the writer's address in both, then in one, and three ids.
  expect(none.held.map(({ length }) => length)).toEqual([2, 2]);
  expect(none.ids).toEqual([2, 4]);
});
