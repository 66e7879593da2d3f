import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectProblem } from "../../test/problem.ts";
import { ADMIN_TOKEN, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";

const WRONG = "not-the-admin-token-at-all";
const BURST = 10;

let service: TestService;
let logged: string;

beforeEach(async () => {
  logged = "";
  const write = (line: string): void => {
    logged += line;
  };
  const log = pino({ level: "trace" }, { write });
  service = await startTestService({ log, trustProxy: true });
});

afterEach(async () => {
  await service?.remove();
});

/** A request from behind a proxy. */
const ask = (token: string | undefined, client = "203.0.113.5", path = "/v1/tasks"): Promise<Response> =>
  fetch(service.url + path, {
    headers: { "x-forwarded-for": client, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });

async function fail(times: number, client?: string): Promise<void> {
  for (let i = 0; i < times; i++) await expectProblem(await ask(WRONG, client), "unauthorized");
}

describe("wrong admin tokens", () => {
  it("are refused ten times, then without being compared, until six seconds have passed", async () => {
    await fail(BURST);
    for (const token of [WRONG, ADMIN_TOKEN]) {
      const refused = await ask(token);
      const { detail } = await expectProblem(refused, "rate-limited");
      expect(detail).toBe("too many wrong admin tokens from this address: try again in a moment");
      expect(refused.headers.get("retry-after")).toBe("6");
    }
    service.clock.advance(6);
    expect((await ask(ADMIN_TOKEN)).status).toBe(200);
    await fail(1);
    await expectProblem(await ask(ADMIN_TOKEN), "rate-limited");
  });

  it("of one client do not lock out another behind the same proxy", async () => {
    await fail(BURST);
    await expectProblem(await ask(ADMIN_TOKEN), "rate-limited");
    expect((await ask(ADMIN_TOKEN, "203.0.113.6")).status).toBe(200);
  });

  it("of a network of IPv6 count together", async () => {
    for (let i = 0; i < BURST; i++) await fail(1, `2001:db8::${i + 1}`);
    await expectProblem(await ask(WRONG, "2001:db8::ff"), "rate-limited");
  });

  it("count on every path that looks at them; right ones and missing ones do not count", async () => {
    for (let i = 0; i < 2 * BURST; i++) {
      await expectProblem(await ask(undefined), "unauthorized");
      expect((await ask(ADMIN_TOKEN)).status).toBe(200);
    }
    for (let i = 0; i < BURST; i++) expect((await ask(WRONG, undefined, "/v1/console")).status).toBe(200);
    await expectProblem(await ask(WRONG, undefined, "/v1/console"), "rate-limited");
    await expectProblem(await ask(WRONG, undefined, "/v1/operations"), "rate-limited");
    // Who sends no token is not concerned, and neither are devices.
    expect((await ask(undefined, undefined, "/v1/console")).status).toBe(200);
  });

  it("and right ones are in no log", async () => {
    await fail(BURST);
    await ask(WRONG);
    await ask(ADMIN_TOKEN, "203.0.113.6");
    expect(logged).toContain("request");
    for (const token of [WRONG, ADMIN_TOKEN]) expect(logged).not.toContain(token);
  });
});

describe("private results", () => {
  const PATHS = ["/v1/tasks/exact/releases", "/v1/tasks/exact/releases/1", "/v1/tasks/exact/windows/99999999"];

  it("need the admin token; manifests do not, because devices read them", async () => {
    await createTask(service, EXACT_TASK);
    for (const path of PATHS) expect((await ask(undefined, undefined, path)).status).not.toBe(401);
    await service.restart({ privateResults: true });
    for (const path of PATHS) {
      const right = await ask(ADMIN_TOKEN, undefined, path);
      expect([path, right.status]).toEqual([path, path.endsWith("/1") ? 410 : 200]);
      for (const token of [undefined, WRONG]) {
        const refused = await ask(token, undefined, path);
        expect(refused.headers.get("www-authenticate")).toBe("Bearer");
        await expectProblem(refused, "unauthorized");
      }
    }
    expect((await ask(undefined, undefined, "/v1/tasks/exact")).status).toBe(200);
    const { paths } = (await (await ask(undefined, undefined, "/openapi.json")).json()) as {
      paths: Record<string, { get?: { security?: unknown } }>;
    };
    for (const path of ["releases", "releases/{window}", "windows/{window}"]) {
      expect(paths[`/v1/tasks/{task}/${path}`]?.get?.security).toEqual([{ bearer: [] }]);
    }
    expect(paths["/v1/tasks/{task}"]?.get?.security).toBeUndefined();
  });
});
