import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { hostsOf } from "./database-url.ts";

const namesOf = (url: string): string[] => hostsOf(url).map(({ name }) => name);

it("one host is one URL, unchanged", () => {
  const url = "postgres://lethe:sesame@db.internal:6432/lethe?sslmode=verify-full";
  expect(hostsOf(url)).toEqual([{ name: "db.internal:6432", url }]);
});

it("several hosts are as many URLs, with the same user, password, database and settings", () => {
  expect(hostsOf("postgresql://u:p@a:1,b,[::1]:3/db?sslmode=require&target_session_attrs=read-write")).toEqual([
    { name: "a:1", url: "postgresql://u:p@a:1/db?sslmode=require&target_session_attrs=read-write" },
    { name: "b:5432", url: "postgresql://u:p@b/db?sslmode=require&target_session_attrs=read-write" },
    { name: "[::1]:3", url: "postgresql://u:p@[::1]:3/db?sslmode=require&target_session_attrs=read-write" },
  ]);
});

it("commas and at signs in a password separate no hosts", () => {
  expect(namesOf("postgres://u:a,b@c,d@one,two/db")).toEqual(["one:5432", "two:5432"]);
});

it("a URL may leave out the host, and have it among its settings", () => {
  expect(namesOf("postgres:///lethe?host=/run/postgresql")).toEqual(["the server"]);
});

describe("a URL is refused, and not quoted", () => {
  it.each([
    "postgres://u:sesame@a,,b/db",
    "postgres://u:sesame@a,/db",
    "postgres://u:sesame@a:port,b/db",
    "mysql://u:sesame@a,b/db",
  ])("if it names no hosts: %s", (url) => {
    expectRefused(url, /^DATABASE_URL is like postgres:\/\/.* commas separate/);
  });

  it.each(["any", "standby", "read-only", "prefer-standby"])("if it asks for a server that is %s", (wanted) => {
    const url = `postgres://u:sesame@a,b/db?target_session_attrs=${wanted}`;
    expectRefused(url, /target_session_attrs in DATABASE_URL must be read-write/);
  });
});

function expectRefused(url: string, why: RegExp): void {
  let refused: unknown;
  try {
    hostsOf(url);
  } catch (error) {
    refused = error;
  }
  expect(refused).toMatchObject({ name: "LetheError", code: "bad-database", message: expect.stringMatching(why) });
  expect(inspect(refused, { depth: 9, showHidden: true })).not.toContain("sesame");
}
