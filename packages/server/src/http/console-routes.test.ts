import { readFileSync } from "node:fs";
import { parseServiceInfo } from "@lethe/core/message";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_TOKEN,
  asAdmin,
  createTask,
  EXACT_TASK,
  startTestService,
  type TestService,
} from "../../test/service.ts";
import { consoleFileRoutes } from "./console-routes.ts";
import * as schemas from "./schemas.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const PNG = crypto.getRandomValues(new Uint8Array(500));
const FILES: ReadonlyMap<string, Uint8Array> = new Map([
  ["/index.html", bytes(`<!doctype html><title>Lethe</title>${"<p>".repeat(500)}`)],
  ["/assets/main-abc_1-3.js", bytes("export {};\n".repeat(100))],
  ["/assets/main-abc123.css", bytes("p { color: red }\n".repeat(100))],
  ["/assets/font.woff2", PNG],
  ["/icon.png", PNG],
  ["/favicon.ico", PNG],
  ["/icon.svg", bytes("<svg/>")],
  ["/manifest.json", bytes("{}")],
]);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
  "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ console: FILES });
  await createTask(service, EXACT_TASK);
});

afterAll(async () => {
  await service?.remove();
});

const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  fetch(service.url + path, { method, headers: { "accept-encoding": "identity", ...headers } });
const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());

describe("the files of the console", () => {
  it.each([
    ["/", "text/html; charset=utf-8"],
    ["/?task=exact&window=3", "text/html; charset=utf-8"],
    ["/index.html", "text/html; charset=utf-8"],
    ["/assets/main-abc_1-3.js", "text/javascript; charset=utf-8"],
    ["/assets/main-abc123.css", "text/css; charset=utf-8"],
    ["/assets/font.woff2", "font/woff2"],
    ["/icon.png", "image/png"],
    ["/favicon.ico", "image/x-icon"],
    ["/icon.svg", "image/svg+xml"],
    ["/manifest.json", "application/json"],
  ])("%s is %s, with the headers of every file", async (path, type) => {
    const [name = ""] = path.split("?");
    const response = await ask(path);
    expect(response.status).toBe(200);
    expect(await bytesOf(response)).toEqual(FILES.get(name === "/" ? "/index.html" : name));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": type,
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
    });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    const tag = response.headers.get("etag") ?? "";
    const again = await ask(path, { "if-none-match": tag });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
    expect(again.headers.get("content-security-policy")).toBe(POLICY);
    const head = await ask(path, {}, "HEAD");
    expect([head.status, head.headers.get("content-length")]).toEqual([200, response.headers.get("content-length")]);
  });

  it("are compressed for clients that accept gzip, unless that saves nothing", async () => {
    const page = await ask("/", { "accept-encoding": "gzip" });
    expect(page.headers.get("content-encoding")).toBe("gzip");
    expect(await bytesOf(page)).toEqual(FILES.get("/index.html"));
    const image = await ask("/icon.png", { "accept-encoding": "gzip" });
    expect([image.headers.get("content-encoding"), await bytesOf(image)]).toEqual([null, PNG]);
  });

  it("are those of the page and no others", async () => {
    for (const path of ["/assets/", "/assets/other.js", "/assets/..%2findex.html", "/package.json"]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
    expect((await ask("/", {}, "POST")).status).toBe(404);
  });

  it("the description has the page and not its files", async () => {
    const { paths } = (await (await ask("/openapi.json")).json()) as { paths: Record<string, unknown> };
    const described = Object.keys(paths).filter((path) => !path.startsWith("/v1/"));
    expect(described).toEqual(["/"]);
  });

  it("that cannot be served keep the service from starting", () => {
    for (const path of ["/a:b.js", "/{a}.js", "/*.js", "a.js", "/a.exe", "/a", "/a//b.js"]) {
      const files = new Map([...FILES, [path, PNG]]);
      expect(() => consoleFileRoutes(files)).toThrow(RangeError);
    }
    expect(() => consoleFileRoutes(new Map())).toThrow("the console has no /index.html");
  });
});

describe("what the console asks first", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

  it("is about the process, with the service's time", async () => {
    const response = await ask("/v1/console", { origin: "https://page.example" });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    const about = parseServiceInfo(await response.text());
    schemas.console.parse(about);
    expect(about).toEqual({
      version,
      role: "all",
      now: service.clock() / 1000,
      privateResults: false,
      isAdmin: false,
      tasks: ["exact"],
      operatorKey: service.operatorKey,
      hasDemonstration: false,
    });
    expect((await ask("/v1/demonstration")).status).toBe(404);
  });

  it("says whether the request had the admin token, which no answer repeats", async () => {
    const response = await asAdmin(service, "/v1/console");
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ isAdmin: true, tasks: ["exact"] });
    expect(text + JSON.stringify([...response.headers])).not.toContain(ADMIN_TOKEN);
  });

  // These change the service.
  it("in a demonstration, what really happened can be read, as it is at that moment", async () => {
    const windows: unknown[] = [];
    await service.restart({ demonstration: () => ({ windows }) });
    expect(await (await ask("/v1/console")).json()).toMatchObject({ hasDemonstration: true });
    windows.push({ window: 7, truth: 3 });
    expect(await (await ask("/v1/demonstration")).json()).toEqual({ windows: [{ window: 7, truth: 3 }] });
  });

  it("names no task if results are private and the request has not the admin token", async () => {
    await service.restart({ privateResults: true });
    const about = (await (await ask("/v1/console")).json()) as object;
    schemas.console.parse(about);
    expect(about).toMatchObject({ privateResults: true, isAdmin: false });
    expect(about).not.toHaveProperty("tasks");
    const wrong = await ask("/v1/console", { authorization: "Bearer not-the-admin-token" });
    expect(await wrong.json()).not.toHaveProperty("tasks");
    expect(await (await asAdmin(service, "/v1/console")).json()).toMatchObject({ isAdmin: true, tasks: ["exact"] });
  });
});
