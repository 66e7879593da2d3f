import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { eventually } from "../../server/test/eventually.ts";
import { createTask, EXACT_TASK, startTestService, type TestService } from "../../server/test/service.ts";
import { LetheError, type LetheErrorCode, type LetheOptions, memoryStore, openLethe } from "../dist/index.js";

const WINDOW_SECONDS = EXACT_TASK.ticks * EXACT_TASK.tickSeconds;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await createTask(service, EXACT_TASK);
});
afterAll(() => service.remove());
afterEach(() => {
  vi.restoreAllMocks();
});

const options = (changes: Partial<LetheOptions> = {}): LetheOptions => ({
  server: service.url,
  task: EXACT_TASK.task,
  operatorKey: service.operatorKey,
  clock: service.clock,
  store: memoryStore(),
  ...changes,
});

describe("options are checked by name", () => {
  it.each(["server", "task", "operatorKey"] as const)("without %s", async (name) => {
    const { [name]: _, ...rest } = options();
    await expect(openLethe(rest as LetheOptions)).rejects.toThrow(new TypeError(`openLethe needs the option ${name}`));
    await expect(openLethe({ ...rest, [name]: undefined } as unknown as LetheOptions)).rejects.toThrow(TypeError);
  });

  it("without any", async () => {
    await expect(openLethe(undefined as unknown as LetheOptions)).rejects.toThrow("openLethe needs the option server");
  });

  it.each([
    [{ onproblem: () => {} }, "openLethe has no option onproblem"],
    [{ toString: 1 }, "openLethe has no option toString"],
    [{ task: 7 }, "the option task is a string"],
    [{ clock: 7 }, "the option clock is a function"],
    [{ consent: "no" }, "the option consent is a boolean"],
  ])("%j", async (changes, message) => {
    await expect(openLethe({ ...options(), ...(changes as object) })).rejects.toThrow(new TypeError(message));
  });

  it("an invalid key is named", async () => {
    await expect(openLethe(options({ operatorKey: "hello" }))).rejects.toThrow("operatorKey begins with ed25519:");
    await expect(openLethe(options({ helperKey: "ed25519:x" }))).rejects.toThrow("helperKey is 32 bytes");
  });
});

it("an error and its codes are exported", () => {
  const code: LetheErrorCode = "events-dropped";
  expect(new LetheError(code, "")).toMatchObject({ code });
});

describe("when events begin to count", () => {
  it("ready says in which window, and until when", async () => {
    const lethe = await openLethe(options());
    let told = false;
    void lethe.ready.then(() => {
      told = true;
    });
    expect(told).toBe(false);
    await eventually(async () => {
      service.clock.advance(1);
      await lethe.sendPending();
      return told || undefined;
    });
    expect(lethe.inspect().memory).not.toEqual([]);
    const window = Math.floor(service.clock() / 1000 / WINDOW_SECONDS);
    expect(await lethe.ready).toEqual({ window, until: 1000 * (window + 1) * WINDOW_SECONDS });
    await lethe.close();
  });
});

describe("without onProblem", () => {
  it("each problem is one line on the console, but never what an event brings about", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const others = (["log", "info", "error", "debug"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => {}),
    );
    const working = await openLethe(options());
    await eventually(async () => {
      service.clock.advance(1);
      await working.sendPending();
      return working.inspect().memory.length > 0 || undefined;
    });
    const before = warned.mock.calls.length;
    for (let i = 0; i < 3; i++) working.record("hapened");
    working.record("happened", 0.5);
    expect(warned.mock.calls.slice(before)).toEqual([]);
    await working.close();

    const gone = await openLethe(options({ server: "http://127.0.0.1:9" }));
    for (let i = 0; i < 3; i++) {
      await gone.sendPending();
      service.clock.advance(10);
    }
    await gone.close();
    expect(warned.mock.calls.slice(before)).toEqual([
      ["Lethe: http://127.0.0.1:9 cannot be reached: it is tried again later (unreachable)"],
    ]);
    for (const other of others) expect(other.mock.calls).toEqual([]);
  });
});

describe("a clock that is wrong is named, with the difference", () => {
  it.each([
    ["ahead", 3 * 86_400],
    ["behind", -3 * 86_400],
  ])("%s", async (which, seconds) => {
    const problems: LetheError[] = [];
    // The service's clock as its answers tell it.
    const lethe = await openLethe(
      options({ clock: () => Date.now() + 1000 * seconds, onProblem: (error) => problems.push(error) }),
    );
    await lethe.sendPending();
    await lethe.close();
    const [, told] =
      /the clock of this device is (\d+) seconds (?:ahead|behind)$/.exec(problems[0]?.message ?? "") ?? [];
    expect(problems[0]?.message).toContain(`seconds ${which}`);
    expect(Math.abs(Number(told) - Math.abs(seconds))).toBeLessThan(120);
  });
});
