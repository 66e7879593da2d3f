import { generateKeyPairSync, randomBytes } from "node:crypto";
import { commitToWindowSecret, secret } from "@lethe/core/encryption";
import { DEVICE_BYTES, encodeManifest } from "@lethe/core/message";
import { afterAll, expect, it } from "vitest";
import { startThreads } from "../../dist/tally/threads.js";
import { EXACT_TASK } from "../../test/service.ts";
import { ONLY_PLACE } from "../storage/place.ts";
import type { CommittedKeys } from "./opening.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const servers = [{ role: "tally", url: "http://test", key: `ed25519:${"A".repeat(43)}` }] as const;
const manifest = encodeManifest({ ...EXACT_TASK, fromWindow: 0, servers });

function newKeys(): CommittedKeys {
  const windowSecret = new Uint8Array(randomBytes(32));
  return { manifest, window: 5, windowSecret, commitment: commitToWindowSecret(secret(windowSecret)) };
}

const threads = startThreads(2);
afterAll(() => threads.close());

it("every job gets its own result, in whatever order the threads finish, and one that fails fails alone", async () => {
  const counts = Array.from({ length: 40 }, (_, i) => (i % 5 === 2 ? 60 : (i % 3) + 1));
  const settled = await Promise.allSettled(
    counts.map((count, i) => {
      const keys = newKeys();
      const wrong = { ...keys, commitment: new Uint8Array(randomBytes(32)) };
      return threads.run("issue", i % 7 === 3 ? wrong : keys, count, privateKey, ONLY_PLACE);
    }),
  );
  for (const [i, outcome] of settled.entries()) {
    if (i % 7 === 3) {
      expect(outcome).toMatchObject({ reason: { message: "the window's secret was destroyed meanwhile" } });
    } else {
      expect(outcome.status === "fulfilled" && outcome.value.devices.length / DEVICE_BYTES).toBe(counts[i]);
    }
  }
});

it("the caller's secret stays as it is: each thread wipes its own copy", async () => {
  const keys = newKeys();
  const before = keys.windowSecret.slice();
  const [one, other] = await Promise.all(
    [1, 2].map((count) => threads.run("issue", keys, count, privateKey, ONLY_PLACE)),
  );
  expect(keys.windowSecret).toEqual(before);
  expect([one, other].map((bundle) => bundle?.signatures.length)).toEqual([64, 128]);
});
