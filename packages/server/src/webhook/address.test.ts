import { describe, expect, it } from "vitest";
import { requireWebhook } from "./address.ts";
import { delayAfter } from "./webhook.ts";

describe("the address of a webhook", () => {
  it.each([
    "https://hooks.example.com/lethe?key=secret",
    "http://127.0.0.1:9000/",
    "http://2130706433/",
    "http://localhost/",
    "http://[::1]:9000/",
  ])("may be %s", (url) => {
    expect(requireWebhook(url).href).toBe(new URL(url).href);
  });

  it.each([
    "http://hooks.example.com/?key=secret",
    "http://10.0.0.1/secret",
    "http://localhost.example.com/secret",
    "http://127.example.com/secret",
    "ftp://127.0.0.1/secret",
    "file:///secret",
    "secret",
    "https://user:secret@hooks.example.com/",
    "http://secret@127.0.0.1/",
  ])("may not be %s, and the message does not quote it", (url) => {
    expect(() => requireWebhook(url)).toThrow(/^(?!.*(secret@|key=|example\.com)).*the webhook must/);
  });

  it("may be an http address of another machine if the operator says so, and nothing else more", () => {
    expect(requireWebhook("http://receiver:9000/", true).port).toBe("9000");
    expect(() => requireWebhook("ftp://receiver/", true)).toThrow("https address");
    expect(() => requireWebhook("http://user@receiver/", true)).toThrow("user or a password");
  });
});

it("attempts are further and further apart, at most ten minutes, and never by the same time", () => {
  const [shortest, longest] = [0, 1].map((random) => [1, 2, 3, 4, 10, 11, 50].map((n) => delayAfter(n, random)));
  expect(longest).toEqual([1, 2, 4, 8, 512, 600, 600]);
  expect(shortest).toEqual([0.5, 1, 2, 4, 256, 300, 300]);
});
