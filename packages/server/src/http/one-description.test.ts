import { readManifest, readSignedManifest } from "@lethe/core/device";
import {
  encodeManifest,
  encodeSignedManifest,
  parseManifest,
  parseRelease,
  parseSignedManifest,
  parseTask,
  SCHEMAS,
} from "@lethe/core/message";
import { entryOf, STATISTIC_TABLE, STATISTICS } from "@lethe/core/statistic";
import {
  encodeSignedShare,
  encodeWindowShare,
  parseSignedShare,
  parseWindowShare,
  type SignedShare,
} from "@lethe/core/two-server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { COUNTED, manifestOf, RELEASE, RELEASES, SHARES, TASKS, TOLD } from "../../test/message-examples.ts";
import * as schemas from "./schemas.ts";

/*
 * Every example goes through everything that knows the shape of a message: the compiler, core's readers, the schemas of the OpenAPI
 * description, and what a device checks.
 */

const [manifest, windowShare] = [SCHEMAS.manifest, SCHEMAS.windowShare].map((schema) =>
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]),
) as [z.ZodType, z.ZodType];

/** The same with one thing changed anywhere in it: a field left out, added, or with a value that is nothing. */
function changesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry, i) => changesOf(entry).map((changed) => value.with(i, changed)));
  }
  if (typeof value !== "object" || value === null) return [{}, "", -1, 0.5, true];
  const fields = Object.entries(value);
  return [
    // Null, because where names are free, as those of states are, a text may be right.
    { ...value, nonsense: null },
    ...fields.map(([left]) => Object.fromEntries(fields.filter(([field]) => field !== left))),
    ...fields.flatMap(([field, inner]) => changesOf(inner).map((changed) => ({ ...value, [field]: changed }))),
  ];
}

/** Whatever the reader takes the schema allows, and neither takes a field that it does not know. */
function expectAgreement(example: unknown, read: (json: string) => unknown, schema: z.ZodType): void {
  const takes = (value: unknown): boolean => {
    try {
      read(JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  };
  const changes = changesOf(example);
  expect(changes.length).toBeGreaterThan(10);
  for (const changed of changes) {
    const isAllowed = schema.safeParse(changed).success;
    if (takes(changed)) expect({ changed, isAllowed }).toEqual({ changed, isAllowed: true });
    if (JSON.stringify(changed).includes("nonsense"))
      expect({ changed, isAllowed }).toEqual({ changed, isAllowed: false });
  }
}

describe.each(Object.entries(TASKS))("a task %s", (_name, task) => {
  it("is one for core, for the description and for devices", () => {
    const parsed = parseTask(JSON.stringify(task));
    expect(parsed).toMatchObject({ task: task.task, mode: task.mode });
    expect(schemas.task.parse(task)).toEqual({ hides: 1000, missing: 0, ...task });
    const running = manifestOf(parsed);
    const text = encodeManifest(running);
    expect(parseManifest(text)).toEqual(running);
    expect(manifest.parse(JSON.parse(text))).toEqual(running);
    expect(readManifest(text)).toEqual(running);
    const envelope = encodeSignedManifest({ manifest: text, signature: new Uint8Array(64) });
    schemas.signedManifest.parse(JSON.parse(envelope));
    expect(readSignedManifest(envelope)).toEqual(parseSignedManifest(envelope));
  });

  it("that differs is judged alike by core and by the description", () => {
    expectAgreement(task, parseTask, schemas.task);
    expectAgreement(manifestOf(parseTask(JSON.stringify(task))), parseManifest, manifest);
  });
});

it("the examples have every statistic in every form", () => {
  expect(Object.keys(STATISTIC_TABLE)).toEqual(STATISTICS);
  const forms = STATISTICS.flatMap((name) => entryOf(name).task.forms);
  const shown = [...TOLD, ...COUNTED].map((metric) => {
    const own = entryOf(metric.statistic).task.forms;
    return own.find(({ isFor }) => isFor?.({ ...metric })) ?? own[0];
  });
  expect(new Set(shown)).toEqual(new Set(forms));
  expect(shown).toHaveLength(forms.length);
  expect([...new Set(RELEASE.metrics.map(({ statistic }) => statistic))]).toEqual(STATISTICS);
});

describe.each(Object.entries(RELEASES))("what became of a window: %s", (_name, release) => {
  it("is one for core and for the description", () => {
    expect(parseRelease(JSON.stringify(release))).toEqual(release);
    expect(schemas.release.parse(release)).toEqual(release);
    expect(schemas.published.parse(release)).toEqual(release);
    expect(schemas.releases.parse({ releases: [release] })).toEqual({ releases: [release] });
  });

  it("and what differs is judged alike", () => {
    expectAgreement(release, parseRelease, schemas.release);
  });
});

it.each(["1e400", "-1e400"])("a figure of %s, which JavaScript reads as infinite, is refused", (figure) => {
  const json = JSON.stringify(RELEASE).replace('"estimate":-1.5', `"estimate":${figure}`);
  expect(() => parseRelease(json)).toThrow(/estimate is a number, not -?Infinity/);
});

describe.each(Object.entries(SHARES))("the share of a %s", (_name, share) => {
  const document = encodeWindowShare(share);
  const signed: SignedShare = { status: "shared", document, signature: new Uint8Array(64) };

  it("is one for core and for the description", () => {
    expect(parseWindowShare(document)).toEqual(share);
    windowShare.parse(JSON.parse(document));
    const published = encodeSignedShare(signed);
    expect(parseSignedShare(published)).toEqual(signed);
    schemas.published.parse(JSON.parse(published));
    schemas.releases.parse({ releases: [JSON.parse(published)] });
  });

  it("and what differs is judged alike", () => {
    expectAgreement(JSON.parse(document), parseWindowShare, windowShare);
  });
});
