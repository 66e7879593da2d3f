import { windowAt } from "@lethe/core/message";
import type { EnrolmentRules, ServiceOptions } from "@lethe/server";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { askToEnrol, enrol, enrolMany, fetchTask, type KnownTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { requestCounts } from "../../test/metrics.ts";
import { expectProblem } from "../../test/problem.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";

const WINDOW_SECONDS = EXACT_TASK.ticks * EXACT_TASK.tickSeconds;

let service: TestService;
let task: KnownTask;
let window: number;
let attest: EnrolmentRules["attest"] = () => true;

beforeAll(async () => {
  service = await startTestService({
    trustProxy: true,
    enrolment: { rate: { perSecond: 1, burst: 6 }, mostPerAddress: 8, attest: (request) => attest(request) },
  });
  await createTask(service, EXACT_TASK);
  task = await fetchTask(service, EXACT_TASK.task);
  window = windowAt(EXACT_TASK, service.clock() / 1000);
});

afterAll(async () => {
  await service?.remove();
});

const ask = (init: RequestInit = {}): Promise<Response> => askToEnrol(service, task.name, window, init);
const from = (address: string): RequestInit => ({ headers: { "x-forwarded-for": address } });

let addresses = 0;
/** One that did not enrol a device yet. */
const newAddress = (): string => `198.51.100.${addresses++}`;

/** Whatever was asked, nothing was answered with a 5xx, but for keys that are used up. */
afterEach(async () => {
  const failed = (await requestCounts(service)).filter(({ status }) => status >= 500);
  expect(failed.filter(({ method, status }) => !(method === "POST" && status === 503))).toEqual([]);
});

describe("how fast one address enrols devices", () => {
  it("is limited, and after Retry-After it may again", async () => {
    const init = from(newAddress());
    for (let i = 0; i < 6; i++) expect((await ask(init)).status).toBe(201);
    const refused = await ask(init);
    const seconds = Number(refused.headers.get("retry-after"));
    await expectProblem(refused, "rate-limited");
    expect(seconds).toBeGreaterThan(0);
    service.clock.advance(seconds);
    expect((await ask(init)).status).toBe(201);
  });

  it("is limited for each address by itself, a household of IPv6 being one", async () => {
    for (let i = 0; i < 6; i++) expect((await ask(from(`2001:db8:1:2::${i}`))).status).toBe(201);
    await expectProblem(await ask(from("2001:db8:1:2:ffff::9")), "rate-limited");
    expect((await ask(from("2001:db8:1:3::1"))).status).toBe(201);
  });

  it("is not reset by an address that the client writes before the one the proxy adds", async () => {
    const address = newAddress();
    for (let i = 0; i < 6; i++) expect((await ask(from(`203.0.113.${i}, ${address}`))).status).toBe(201);
    await expectProblem(await ask(from(`203.0.113.9, ${address}`)), "rate-limited");
  });
});

describe("how many devices one address enrols in a window", () => {
  it("has an end, also when they come at once, and the next window begins at zero", async () => {
    const init = from(newAddress());
    for (let i = 0; i < 6; i++) expect((await ask(init)).status).toBe(201);
    service.clock.advance(6);
    const responses = await Promise.all(Array.from({ length: 6 }, () => ask(init)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(2);
    for (const response of responses.filter(({ status }) => status !== 201)) {
      expect(response.headers.get("retry-after")).not.toBeNull();
      await expectProblem(response, "rate-limited");
    }
    service.clock.advance(6);
    await expectProblem(await ask(init), "rate-limited");
    expect((await askToEnrol(service, task.name, window + 1, init)).status).toBe(201);
  });
});

describe("the operator's own check", () => {
  const attesting = (attestation: unknown): RequestInit => ({
    headers: { "x-forwarded-for": newAddress(), "content-type": "application/json" },
    body: JSON.stringify({ attestation }),
  });

  it("sees task, window and attestation, and admits whom it likes", async () => {
    const seen: unknown[] = [];
    attest = (request) => {
      seen.push(request);
      return request.attestation === "good";
    };
    expect((await ask(attesting("good"))).status).toBe(201);
    await expectProblem(await ask(attesting("bad")), "unauthorized");
    await expectProblem(await ask(from(newAddress())), "unauthorized");
    const asked = { task: task.name, window };
    expect(seen).toEqual([
      { ...asked, attestation: "good" },
      { ...asked, attestation: "bad" },
      { ...asked, attestation: undefined },
    ]);
  });

  it("may take its time", async () => {
    attest = () => new Promise((resolve) => setTimeout(resolve, 100, true));
    expect((await ask(attesting("any"))).status).toBe(201);
    attest = () => new Promise((resolve) => setTimeout(resolve, 100, false));
    await expectProblem(await ask(attesting("any")), "unauthorized");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("SECRET-OF-THE-CHECK");
      },
    ],
    ["rejects", () => Promise.reject(new Error("SECRET-OF-THE-CHECK"))],
    ["rejects with nothing", () => Promise.reject()],
    ["rejects with its own status", () => Promise.reject(Object.assign(new Error("SECRET"), { statusCode: 418 }))],
  ])("admits nobody if it %s, and says nothing of why", async (_what, check) => {
    attest = check;
    const { detail } = await expectProblem(await ask(attesting("any")), "unauthorized");
    expect(detail).not.toContain("SECRET");
  });
});

describe("under other rules", () => {
  /** The same service, two windows on: in one that nobody knows yet. */
  async function under(rules: Partial<ServiceOptions>): Promise<void> {
    await service.restart({ enrolment: {}, trustProxy: false, keysAhead: 20, ...rules });
    service.clock.advance(2 * WINDOW_SECONDS);
    window += 2;
    await eventually(async () => {
      const { status } = await fetch(`${service.url}/v1/tasks/${task.name}/windows/${window}/devices`, {
        method: "POST",
      });
      return status === 503 && rules.keysAhead !== 0 ? undefined : true;
    });
  }

  it("without a trusted proxy, an address is not told by a header that anybody can write; and no count outlives the process", async () => {
    const enrolment = { rate: { perSecond: 0.001, burst: 3 }, mostPerAddress: 2 };
    await service.restart({ enrolment, trustProxy: false });
    for (let times = 0; times < 2; times++) {
      for (let i = 0; i < 2; i++) expect((await ask(from(newAddress()))).status).toBe(201);
      expect((await expectProblem(await ask(from(newAddress())), "rate-limited")).detail).toContain("at most 2");
      expect((await expectProblem(await ask(from(newAddress())), "rate-limited")).detail).toContain("in a moment");
      await service.restart();
    }
  });

  it("with tokens of the operator nobody enrols without one, and each of them will do", async () => {
    const tokens = ["first-token-of-the-operator", "second-token-of-the-operator"];
    await under({ enrolment: { tokens } });
    for (const authorization of [undefined, "Bearer x", `Basic ${tokens[0]}`, `Bearer ${tokens[0]}x`]) {
      const response = await ask(authorization === undefined ? {} : { headers: { authorization } });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      await expectProblem(response, "unauthorized");
    }
    for (const token of tokens) {
      const device = await enrol(service, task, window, { headers: { authorization: `Bearer ${token}` } });
      expect((await upload(service, device, reportOf(device))).status).toBe(201);
    }
  });

  it("with an empty list of tokens nobody enrols", async () => {
    await service.restart({ enrolment: { tokens: [] } });
    await expectProblem(await ask({ headers: { authorization: "Bearer x" } }), "unauthorized");
  });

  it("if no keys come, the refusal says when to ask again", async () => {
    await under({ keysAhead: 0 });
    const refused = await ask();
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await expectProblem(refused, "no-keys-left");
  });

  it("keys that are used up are waited for, and each is given out once: every device has its own id, token and keys", async () => {
    await under({ keysAhead: 10 });
    const devices = await enrolMany(service, task, window, 60);
    for (const pick of ["id", "token", "publicKeys"] as const) {
      expect(new Set(devices.map((device) => Buffer.from(device[pick]).toString("hex"))).size).toBe(60);
    }
  });
});

describe("the window of an enrolment", () => {
  it("is the running one or the next", async () => {
    await enrol(service, task, window);
    await enrol(service, task, window + 1);
    await expectProblem(await askToEnrol(service, task.name, window + 2), "window-not-open");
    await expectProblem(await askToEnrol(service, task.name, 999_999_999), "window-not-open");
    await expectProblem(await askToEnrol(service, task.name, window - 1), "window-closed");
    await expectProblem(await askToEnrol(service, task.name, 0), "window-closed");
  });

  it("takes nobody once it is closed manually", async () => {
    expect((await closeByHand(service, task.name, window)).status).toBe(200);
    await expectProblem(await ask(), "window-closed");
  });
});
