import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { isValidReport, type ServerRole } from "@lethe/core/two-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { macOfRequest, openAnswer, sealRequest } from "../dist/between/envelope.js";
import { encodeJob, type JobEntry } from "../dist/between/messages.js";
import { unownedFolder } from "../test/folder.ts";
import { codeOf, leadAlone, type OwnLeader } from "../test/own-leader.ts";
import { startTestService, type TestService } from "../test/service.ts";
import { documentOf, makeKeyFiles, PEER_SECRET, SHARED_TASK } from "../test/two-servers.ts";

/** One bit of each kind, and one that is checked to be one-hot. */
const TASK = {
  ...SHARED_TASK,
  minimumDevices: 1,
  metrics: SHARED_TASK.metrics.filter(({ name }) => name !== "average"),
};

let folder: string;
let files: Record<ServerRole, { path: string; key: string }>;
let helper: TestService;
let leader: OwnLeader;

beforeAll(async () => {
  folder = unownedFolder();
  files = makeKeyFiles(folder);
  helper = await startTestService({
    role: "helper",
    keyFile: files.helper.path,
    peer: { secret: PEER_SECRET, operatorKey: files.leader.key },
  });
  leader = await lead("shared");
});

afterAll(async () => {
  await helper?.remove();
  rmSync(folder, { recursive: true });
});

const lead = (name: string): Promise<OwnLeader> => leadAlone(helper, files.leader.path, { ...TASK, task: name });

const others = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte));
const newId = (): Uint8Array => new Uint8Array(randomBytes(16));

async function honest(events: readonly string[] = ["happened", "times"]): ReturnType<OwnLeader["entry"]> {
  return leader.entry(await leader.enrol(), events);
}

/** How many reports the helper has counted. */
async function received({ task, window }: OwnLeader): Promise<number> {
  const response = await fetch(`${helper.url}/v1/tasks/${task.manifest.task}/windows/${window}`);
  return ((await response.json()) as { received: number }).received;
}

const isValid = ({ leaderVerifier }: JobEntry, verifier: Uint8Array | undefined): boolean =>
  isValidReport(
    leader.task.layout.map(({ statistic }) => statistic),
    leaderVerifier,
    verifier as Uint8Array,
  );

it("what is passed on as it came is found valid", async () => {
  const entries = [await honest(), await honest([])];
  const verifiers = await leader.ask(...entries);
  for (const [i, entry] of entries.entries()) {
    expect(isValid(entry, verifiers[i])).toBe(true);
    // Something that is not there would be refused in other words.
    expect(verifiers[i]).not.toEqual(await leader.nothingFoundIn(entry));
  }
});

describe("a half that is passed on as something else is not opened: the answer is that of an empty report", () => {
  it.each<[string, (entry: JobEntry, other: JobEntry) => JobEntry]>([
    ["another device's", (entry, { half }) => ({ ...entry, half })],
    ["another device's, with its report id", (entry, { half, report }) => ({ ...entry, half, report })],
    ["under another report id", (entry) => ({ ...entry, report: newId() })],
    ["under a device id that was never enrolled", (entry) => ({ ...entry, device: newId() })],
    ["with one bit changed", (entry) => ({ ...entry, half: others(entry.half) })],
    [
      "with an ephemeral key of small order",
      ({ half, ...entry }) => ({ ...entry, half: half.map((b, i) => (i < 32 ? 0 : b)) }),
    ],
    ["of zeros", ({ half, ...entry }) => ({ ...entry, half: new Uint8Array(half.length) })],
  ])("%s", async (_what, alter) => {
    const altered = alter(await honest(), await honest());
    const before = await received(leader);
    const [verifier] = await leader.ask(altered);
    expect(verifier).toEqual(await leader.nothingFoundIn(altered));
    expect(isValid(altered, verifier)).toBe(false);
    // It is counted all the same, as invalid.
    expect((await received(leader)) - before).toBe(1);
  });

  it("of the same device at another moment", async () => {
    const device = await leader.enrol();
    const [early, late] = [await leader.entry(device), await leader.entry(device, ["happened"])];
    const [verifier] = await leader.ask({ ...early, half: late.half });
    expect(verifier).toEqual(await leader.nothingFoundIn(early));
    for (const whole of [early, late]) expect(await codeOf(leader.ask(whole))).toBe("report-differs");
  });
});

it("halves of two moments under one report id are found invalid, and neither moment is looked into again", async () => {
  const [device, id] = [await leader.enrol(), newId()];
  const early = await leader.entry(device, [], id);
  const late = await leader.entry(device, ["happened", "counted"], id);
  const mixed = { ...early, half: late.half };
  const [verifier] = await leader.ask(mixed);
  expect(isValid(mixed, verifier)).toBe(false);
  for (const whole of [early, late]) expect(await codeOf(leader.ask(whole))).toBe("report-differs");
});

describe("a second verification", () => {
  it("of the same report gets the same answer, however often", async () => {
    const entry = await honest();
    const first = await leader.ask(entry);
    const before = await received(leader);
    expect(await leader.ask(entry)).toEqual(first);
    const answers = await Promise.all(Array.from({ length: 5 }, () => leader.ask(entry)));
    for (const answer of answers) expect(answer).toEqual(first);
    expect(await received(leader)).toBe(before);
  });

  it("under another report id, with other bytes or with another verifier of the leader is refused, with all that comes along", async () => {
    const device = await leader.enrol();
    const entry = await leader.entry(device, ["happened"]);
    await leader.ask(entry);
    const before = await received(leader);
    const innocent = await honest();
    for (const again of [
      { ...entry, report: newId() },
      { ...entry, half: others(entry.half) },
      { ...entry, leaderVerifier: others(entry.leaderVerifier) },
      await leader.entry(device, ["happened"]),
      await leader.entry(device, ["happened"], entry.report),
    ]) {
      expect(await codeOf(leader.ask(again))).toBe("report-differs");
      expect(await codeOf(leader.ask(innocent, again))).toBe("report-differs");
    }
    expect(await received(leader)).toBe(before);
  });

  it("within one job is refused, and nothing of the job is counted", async () => {
    const entry = await honest();
    const before = await received(leader);
    expect(await codeOf(leader.ask(entry, entry))).toBe("report-differs");
    expect(await codeOf(leader.ask(entry, { ...entry, report: newId() }))).toBe("report-differs");
    expect(await received(leader)).toBe(before);
    expect(await codeOf(leader.ask(entry))).toBe("answered");
  });

  it("at the same time as the first: of different reports of one device only one is answered", async () => {
    const device = await leader.enrol();
    const entries = await Promise.all(Array.from({ length: 6 }, () => leader.entry(device, ["happened"])));
    const before = await received(leader);
    const codes = await Promise.all(entries.map((entry) => codeOf(leader.ask(entry))));
    expect(codes.toSorted()).toEqual(["answered", ...Array.from({ length: 5 }, () => "report-differs")]);
    expect((await received(leader)) - before).toBe(1);
  });

  it("after the helper was restarted is refused as before", async () => {
    const entry = await honest();
    const answer = await leader.ask(entry);
    await helper.restart({ port: Number(new URL(helper.url).port) });
    expect(await leader.ask(entry)).toEqual(answer);
    expect(await codeOf(leader.ask({ ...entry, report: newId() }))).toBe("report-differs");
  });
});

describe("what the servers must agree about", () => {
  /** A job that claims another verify key, or another manifest. */
  async function askAs(
    claimed: { verifyKey?: Uint8Array; manifestHash?: Uint8Array; helperCommitment?: Uint8Array },
    entry: JobEntry,
  ): Promise<string> {
    const { manifest, hash } = leader.task;
    const agreed = { manifestHash: hash, helperCommitment: leader.helperWindow().helperCommitment as Uint8Array };
    const job = encodeJob({ ...agreed, verifyKey: new Uint8Array(32), ...claimed }, [entry]);
    const where = ["job", manifest.task, leader.window];
    const sealed = sealRequest(PEER_SECRET, where.join(" "), helper.clock() / 1000, job);
    const response = await fetch(`${helper.url}/v1/peer/${where.join("/")}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: sealed as Uint8Array<ArrayBuffer>,
    });
    const answer = new Uint8Array(await response.arrayBuffer());
    return codeOf(Promise.resolve().then(() => openAnswer(PEER_SECRET, macOfRequest(sealed), answer)));
  }

  it("is checked before anything is opened: verify key, manifest, the helper's own secret", async () => {
    const entry = await honest();
    const before = await received(leader);
    expect(await askAs({}, entry)).toBe("verify-key-differs");
    expect(await askAs({ manifestHash: new Uint8Array(randomBytes(32)) }, entry)).toBe("task-differs");
    const elsewhere = { ...leader.version, hash: new Uint8Array(32) };
    expect(await codeOf(leader.helper.issueKeys(elsewhere, leader.helperWindow(), [newId()]))).toBe("task-differs");
    expect(
      await codeOf(
        leader.helper.finish(elsewhere, leader.helperWindow(), { received: 0, reports: new Uint8Array(32) }),
      ),
    ).toBe("task-differs");
    expect(await received(leader)).toBe(before);
    expect(await codeOf(leader.ask(entry))).toBe("answered");
  });

  it("keys and shares are for windows of this time only", async () => {
    for (const ahead of [2, 1000]) {
      const later = { number: leader.window + ahead, helperCommitment: null };
      expect(await codeOf(leader.helper.issueKeys(leader.version, later, [newId()]))).toBe("clocks-apart");
      const nobody = { received: 0, reports: new Uint8Array(32) };
      expect(await codeOf(leader.helper.finish(leader.version, later, nobody))).toBe("clocks-apart");
    }
    // Before the task began.
    const earlier = { number: leader.window - 1, helperCommitment: null };
    expect(await codeOf(leader.helper.issueKeys(leader.version, earlier, [newId()]))).toBe("task-differs");
    // The leader's clock may be a minute ahead.
    helper.clock.advance(61);
    const soon = { number: leader.window + 2, helperCommitment: null };
    expect(await codeOf(leader.helper.issueKeys(leader.version, soon, [newId()]))).toBe("answered");
  });
});

describe("finishing", () => {
  const documentAt = ({ task, window }: OwnLeader): Promise<string> => documentOf(helper, task.manifest.task, window);

  it("gives one share, drawn once: asked for again it is the same bytes, and nothing is counted afterwards", async () => {
    const own = await lead("finished");
    const entries = await Promise.all(
      Array.from({ length: 4 }, async () => own.entry(await own.enrol(), ["happened", "counted"])),
    );
    await own.ask(...entries);
    const late = await own.entry(await own.enrol());
    await Promise.all([own.finish(...entries), own.finish(...entries)]);
    const document = await documentAt(own);
    expect(JSON.parse(document)).toMatchObject({ status: "shared" });
    await own.finish(...entries);
    expect(await documentAt(own)).toBe(document);
    expect(await codeOf(own.ask(late))).toBe("window-closed");
    expect(await codeOf(own.ask(...entries))).toBe("window-closed");
    expect(await codeOf(own.enrol())).toBe("window-closed");
    expect(await codeOf(own.finish(...entries.slice(1)))).toBe("reports-differ");
    expect(await codeOf(own.finish(...entries.slice(1), late))).toBe("reports-differ");
    expect(await documentAt(own)).toBe(document);
    await helper.restart({ port: Number(new URL(helper.url).port) });
    await own.finish(...entries);
    expect(await documentAt(own)).toBe(document);
  });

  it.each<[string, (counted: readonly JobEntry[], other: JobEntry) => readonly JobEntry[]]>([
    ["fewer reports", (counted) => counted.slice(1)],
    ["more reports", (counted, other) => [...counted, other]],
    ["as many others", (counted, other) => [...counted.slice(1), other]],
  ])("with %s than the helper has counted loses the window, for good", async (what, alter) => {
    const own = await lead(`lost-${what.replaceAll(" ", "-")}`);
    const entries = [await own.entry(await own.enrol()), await own.entry(await own.enrol())];
    await own.ask(...entries);
    const other = await own.entry(await own.enrol());
    expect(await codeOf(own.finish(...alter(entries, other)))).toBe("reports-differ");
    expect(JSON.parse(await documentAt(own))).toMatchObject({ status: "lost" });
    // Too late to be right.
    expect(await codeOf(own.finish(...entries))).toBe("reports-differ");
    expect(await codeOf(own.ask(other))).toBe("window-closed");
    expect(JSON.parse(await documentAt(own))).toMatchObject({ status: "lost" });
  });

  it("while jobs are under way: what was answered is in the share, or there is none", async () => {
    const own = await lead("at-once");
    const entries = await Promise.all(Array.from({ length: 8 }, async () => own.entry(await own.enrol())));
    const [early, late] = [entries.slice(0, 4), entries.slice(4)];
    await own.ask(...early);
    const [finished, ...answered] = await Promise.all([
      codeOf(own.finish(...early)),
      ...late.map((entry) => codeOf(own.ask(entry))),
    ]);
    const counted = answered.filter((code) => code === "answered").length;
    expect(finished).toBe(counted === 0 ? "answered" : "reports-differ");
    expect(await received(own)).toBe(4 + counted);
    for (const code of answered) expect(["answered", "window-closed"]).toContain(code);
  });
});

it("a task that names another helper's key is not taken, and it is said where to look", async () => {
  const misled = Object.create(helper, { operatorKey: { value: files.leader.key } }) as TestService;
  const named = leadAlone(misled, files.leader.path, { ...TASK, task: "misled" });
  await expect(named).rejects.toMatchObject({
    code: "task-differs",
    message: `the leader's --peer-key, ${files.leader.key}, is not this helper's operator key: compare it with what lethe key prints at the helper`,
  });
});

it("a new version of a task does not begin in windows that are there", async () => {
  const own = await lead("versions");
  await own.enrol();
  const next = leadAlone(helper, files.leader.path, { ...TASK, task: "versions", version: 2, minimumDevices: 1 });
  expect(await codeOf(next)).toBe("task-differs");
});
