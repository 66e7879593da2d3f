import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestService, type TestService } from "../../test/service.ts";

/** As long as the real one, and as little as that anything that the database knows. */
const codeOf = (version: string): Uint8Array =>
  new TextEncoder().encode(`// ${version}\n${"export {};\n".repeat(10_000)}`);
const hashOf = (code: Uint8Array): string => createHash("sha256").update(code).digest("hex").slice(0, 32);
const [first, second] = [codeOf("first"), codeOf("second")];

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ sdk: first });
});

afterAll(async () => {
  await service?.remove();
});

const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  fetch(service.url + path, { method, headers: { "accept-encoding": "identity", ...headers } });
const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());

it("is a module that pages of any origin may load, for a short time without asking again", async () => {
  const response = await ask("/lethe.js", { origin: "https://page.example" });
  expect(response.status).toBe(200);
  expect(await bytesOf(response)).toEqual(first);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "content-length": `${first.length}`,
    "cache-control": "public, max-age=300",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    vary: "accept-encoding",
    etag: `"${hashOf(first)}"`,
  });
});

it("at its hash it is the same for ever", async () => {
  const response = await ask(`/lethe-${hashOf(first)}.js`);
  expect([response.status, await bytesOf(response)]).toEqual([200, first]);
  expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
});

it("is not sent to a client that has it", async () => {
  for (const path of ["/lethe.js", `/lethe-${hashOf(first)}.js`]) {
    const tag = (await ask(path)).headers.get("etag") ?? "";
    for (const tags of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const response = await ask(path, { "if-none-match": tags });
      expect([response.status, await response.text()]).toEqual([304, ""]);
      expect(response.headers.get("etag")).toBe(tag);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
    }
    expect((await ask(path, { "if-none-match": '"other"' })).status).toBe(200);
  }
});

it("is compressed for clients that accept gzip, under another tag", async () => {
  const zipped = await ask("/lethe.js", { "accept-encoding": "br, gzip;q=0.5" });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(Number(zipped.headers.get("content-length"))).toBeLessThan(first.length / 10);
  expect(await bytesOf(zipped)).toEqual(first);
  const tag = zipped.headers.get("etag") ?? "";
  expect(tag).not.toBe((await ask("/lethe.js")).headers.get("etag"));
  expect((await ask("/lethe.js", { "accept-encoding": "gzip", "if-none-match": tag })).status).toBe(304);
  for (const refused of ["br", "gzip;q=0", "gzip; q=0.000"]) {
    expect((await ask("/lethe.js", { "accept-encoding": refused })).headers.get("content-encoding")).toBeNull();
  }
});

it("HEAD tells the same without the file", async () => {
  for (const path of ["/lethe.js", `/lethe-${hashOf(first)}.js`]) {
    const [get, head] = [await ask(path), await ask(path, {}, "HEAD")];
    const told = ({ status, headers }: Response) => [status, headers.get("etag"), headers.get("content-length")];
    expect(told(head)).toEqual(told(get));
    expect(await head.text()).toBe("");
  }
});

it("a hash that never was is not found, and what is no hash is refused; neither is kept in caches", async () => {
  const missing = await ask(`/lethe-${"0".repeat(32)}.js`);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ status: 404, detail: "no SDK with this hash was ever served here" });
  const bad = await ask("/lethe-1.js");
  expect([bad.status, ((await bad.json()) as { code: string }).code]).toEqual([400, "bad-encoding"]);
  for (const response of [missing, bad]) expect(response.headers.get("cache-control")).toBe("no-store");
});

it("the description names both", async () => {
  const { paths } = (await (await ask("/openapi.json")).json()) as { paths: Record<string, unknown> };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/lethe.js", "/lethe-{hash}.js"]));
});

// Last, as it changes the service.
it("after an upgrade, pages that name the old file still get it, and after a downgrade the new one", async () => {
  await service.restart({ sdk: second });
  expect(await bytesOf(await ask("/lethe.js"))).toEqual(second);
  for (const code of [second, first, first]) {
    expect(await bytesOf(await ask(`/lethe-${hashOf(code)}.js`))).toEqual(code);
  }
  await service.restart({ sdk: first });
  expect(await bytesOf(await ask("/lethe.js"))).toEqual(first);
  expect(await bytesOf(await ask(`/lethe-${hashOf(second)}.js`))).toEqual(second);
});
