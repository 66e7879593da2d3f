import { describe, expect, it } from "vitest";
import { LetheError } from "../error.ts";
import { requireNoRedirect } from "./index.ts";

const answer = (status: number, location?: string): Response =>
  new Response(null, { status, headers: location === undefined ? {} : { location } });

function messageOf(response: Pick<Response, "status" | "headers">): string {
  try {
    requireNoRedirect("https://a.example", response);
  } catch (error) {
    if (error instanceof LetheError && error.code === "redirected") return error.message;
  }
  throw new TypeError("it was not refused");
}

describe("a redirect", () => {
  it.each([
    ["https://b.example/base/v1/tasks/t/windows/7/reports/AAAA", "https://b.example/base"],
    ["https://b.example/login?next=%2Fv1%2Ftasks#top", "https://b.example/login"],
    ["/elsewhere", "/elsewhere"],
    [`https://b.example/${"x".repeat(1000)}`, "elsewhere"],
  ])("to %s names the address to use, and what to do", (location, target) => {
    for (const status of [301, 302, 303, 307, 308]) {
      expect(messageOf(answer(status, location))).toBe(
        `https://a.example redirects to ${target}: use the service's own address`,
      );
    }
  });

  it("whose target a browser hides, or that has none, names the address that was asked", () => {
    for (const hidden of [answer(302), { status: 0, headers: new Headers() }]) {
      expect(messageOf(hidden)).toBe("https://a.example redirects to elsewhere: use the service's own address");
    }
  });

  it("is no other answer", () => {
    for (const status of [200, 201, 204, 400, 404, 500, 503]) {
      expect(() => requireNoRedirect("https://a.example", answer(status, "https://b.example"))).not.toThrow();
    }
  });
});
