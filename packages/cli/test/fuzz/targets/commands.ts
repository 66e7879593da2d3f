import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  fetchDemonstration,
  fetchManifest,
  fetchOperations,
  fetchRelease,
  fetchReleases,
  fetchServiceInfo,
  fetchWindow,
  listTasks,
  toCsv,
} from "@lethe/analyst";
import { encodeBase64url, parseRelease } from "@lethe/core/message";
import { encodeSignedShare, encodeWindowShare } from "@lethe/core/two-server";
import { readDraft } from "../../../../console/src/plan/task-text.ts";
import { formatRoute, parseRoute } from "../../../../console/src/shell/route.ts";
import { readCapture } from "../../../../lab/dist/audit/captures.js";
import { stripsOf } from "../../../../lab/dist/audit/telling-place.js";
import { VERSION_DISTINGUISHERS } from "../../../../lab/dist/intrusion/version-distinguishers.js";
import { RELEASES, SHARES, TASKS } from "../../../../server/test/message-examples.ts";
import { adminTokenOf } from "../../../dist/options/admin-token.js";
import * as options from "../../../dist/options/options.js";
import { readTask } from "../../../dist/options/task-file.js";
import { enrolmentRules } from "../../../dist/serve/enrolment-rules.js";
import { isFailure } from "../../../dist/system/failure.js";
import { readTextFile } from "../../../dist/system/text-file.js";
import { type Target, Violation } from "../target.ts";
import { bytesOf, jsonBytes, ONE_SERVER, OPERATOR, textOf } from "./fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "lethe-fuzz-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Failures of a command are its own errors: one line, and exit code 2. */
function orFailure(act: () => unknown): undefined {
  try {
    act();
  } catch (error) {
    requireFailure(error);
  }
  return undefined;
}

function requireFailure(error: unknown): void {
  if (!isFailure(error)) throw error;
  if (/\n/.test((error as Error).message.trim())) throw new Violation("a failure has more than one line");
}

/** Files that commands are given. */
function fileTargets(): Target[] {
  const path = (name: string): string => join(folder, name);
  const [task, tokens, token, captured] = [path("task.json"), path("tokens"), path("admin-token"), path("capture")];
  const rules = { enrolmentRate: 1, enrolmentBurst: 1, mostPerAddress: 1, enrolmentTokens: tokens };
  const words = [encodeBase64url(new Uint8Array(32).fill(1)), encodeBase64url(new Uint8Array(32).fill(2))];
  return [
    {
      name: "file of a task",
      covers: ["readTask", "readTextFile"],
      kind: "json",
      examples: Object.values(TASKS).map(jsonBytes),
      errors: ["bad-task"],
      inCi: 1000,
      run: (input) => {
        writeFileSync(task, input);
        readTask(task);
        return undefined;
      },
    },
    {
      name: "file of text",
      covers: ["readTextFile"],
      kind: "text",
      examples: ["", "a", "é😀", words.join("\n")].map(bytesOf),
      errors: [],
      otherErrors: ["RangeError"],
      inCi: 500,
      run: (input) => {
        writeFileSync(task, input);
        readTextFile(task, "a file");
        return undefined;
      },
    },
    {
      name: "file of enrolment tokens",
      covers: ["enrolmentRules"],
      kind: "text",
      examples: [words.join("\n"), `${words[0]}\r\n\r\n${words[1]}\n`].map(bytesOf),
      errors: [],
      inCi: 500,
      run: async (input) => {
        writeFileSync(tokens, input);
        const found = await enrolmentRules(rules, false).catch(requireFailure);
        if (found?.tokens?.some((each) => !/^[\x21-\x7e]{16,500}$/.test(each))) throw new Violation("odd token");
        return undefined;
      },
    },
    {
      name: "file of the admin token",
      covers: ["adminTokenOf"],
      kind: "text",
      examples: words.map(bytesOf),
      errors: [],
      inCi: 3000,
      run: (input) => {
        writeFileSync(token, input);
        return orFailure(() => adminTokenOf(folder));
      },
    },
    {
      name: "capture of a device",
      covers: ["readCapture", "stripsOf"],
      kind: "bytes",
      examples: [0, 1, 500].map((length) => new Uint8Array(length).fill(length)),
      errors: [],
      otherErrors: ["RangeError"],
      inCi: 500,
      run: (input) => {
        writeFileSync(captured, input);
        utimesSync(captured, 1, (input[0] ?? 0) * 1e6);
        const { versions } = readCapture(captured);
        const numbers = Object.values(VERSION_DISTINGUISHERS).map((of) => of(versions));
        if (!numbers.every(Number.isFinite)) throw new Violation("a figure of a capture is not finite");
        stripsOf(versions);
        return undefined;
      },
    },
  ];
}

const PARSERS: readonly ((text: string) => unknown)[] = [
  options.operatorKey,
  options.serviceUrl,
  options.windowNumber,
  options.wholeNumber(0, 1e9),
  options.positive,
  options.positiveUpTo(64),
  options.share,
  options.edges,
  options.shareBelowOne,
  options.probability,
];

/** Values of options: the first byte says of which. */
function optionTarget(): Target {
  const values = [OPERATOR.key, "http://127.0.0.1:8080/", "123", "1e9", "0.5", "64", "0", "0,1,2,5", "0.99", "1e-6"];
  return {
    name: "value of an option",
    covers: ["operatorKey", "serviceUrl", "edges"],
    kind: "text",
    examples: values.map((value, i) => bytesOf(String.fromCharCode(i) + value)),
    errors: [],
    run: (input) => {
      const parse = PARSERS[(input[0] ?? 0) % PARSERS.length] as (typeof PARSERS)[number];
      try {
        const value = parse(textOf(input.subarray(1)));
        if (typeof value === "number" && !Number.isFinite(value)) throw new Violation("an option is no number");
      } catch (error) {
        if (
          (error as Error).name !== "InvalidArgumentError" &&
          (error as { code?: string }).code !== "commander.invalidArgument"
        )
          throw error;
      }
      return undefined;
    },
  };
}

/** What a service answers to a reader of results: the first byte says to which request, and with which status. */
function answerTarget(): Target {
  const server = "http://service.example";
  const releases = Object.values(RELEASES);
  const shares = Object.values(SHARES).map((share) =>
    JSON.parse(
      encodeSignedShare({ status: "shared", document: encodeWindowShare(share), signature: new Uint8Array(64) }),
    ),
  );
  const status = { task: "a", version: 1, window: 5, state: "open", from: 1, to: 2, closes: 3, refused: {} };
  const problem = {
    type: "urn:lethe:problem:bad-encoding",
    title: "a",
    status: 400,
    code: "bad-encoding",
    detail: "b",
  };
  const asks: readonly (() => Promise<unknown>)[] = [
    () => fetchRelease(server, "a", 5),
    () => fetchReleases(server, "a", { limit: 3 }),
    () => fetchWindow(server, "a", 5),
    () => fetchManifest(server, "a"),
    () => fetchServiceInfo(server),
    () => fetchOperations(server, { token: "a-token" }),
    () => fetchDemonstration(server),
    () => listTasks(server, "a-token"),
  ];
  const answers: readonly (readonly [ask: number, answer: unknown])[] = [
    ...[...releases, ...shares].map((each) => [0, each] as const),
    [1, { releases: [...releases.slice(0, 2), ...shares.slice(0, 1)] }],
    [2, status],
    [3, JSON.parse(ONE_SERVER[0]?.signed ?? "")],
    [6, { task: "a", devices: 1, ticks: 2, windows: [] }],
    [7, { tasks: [] }],
    [8, problem],
  ];
  return {
    name: "answer to a reader",
    covers: ["fetchRelease", "fetchReleases", "fetchManifest", "readManifest", "toCsv"],
    kind: "json",
    examples: answers.map(([ask, answer]) => jsonBytes([ask, answer])),
    errors: ["bad-answer", "bad-encoding", "bad-role", "unavailable", "service-failed", "unauthorized"],
    inCi: 4000,
    run: async (input) => {
      const text = textOf(input);
      const ask = Number(/^\[(\d)/.exec(text)?.[1] ?? 0);
      const isProblem = ask === 8;
      const init = {
        status: isProblem ? 400 : 200,
        headers: { "content-type": isProblem ? "application/problem+json" : "application/json" },
      };
      const body = text.replace(/^\[\d+,/, "").replace(/\]$/, "");
      const { fetch } = globalThis;
      globalThis.fetch = async () => new Response(body, init);
      try {
        const found = await asks[isProblem ? 0 : ask % asks.length]?.();
        if (ask === 0 && found) csvOf(found);
      } finally {
        globalThis.fetch = fetch;
      }
      return undefined;
    },
  };
}

/** What core takes for a release must be written as CSV. */
function csvOf(found: unknown): void {
  let release: ReturnType<typeof parseRelease>;
  try {
    release = parseRelease(JSON.stringify(found));
  } catch {
    return;
  }
  const lines = toCsv([release as Parameters<typeof toCsv>[0][number]])
    .trimEnd()
    .split("\n");
  const columns = lines[0]?.split(",").length;
  if (lines.some((line) => !line.includes('"') && line.split(",").length !== columns)) {
    throw new Violation("a line of CSV has another number of columns");
  }
}

/** What somebody types into the console. */
function consoleTargets(): Target[] {
  return [
    {
      name: "draft in the console",
      covers: ["readDraft"],
      kind: "json",
      examples: Object.values(TASKS).map(jsonBytes),
      errors: [],
      run: (input) => {
        readDraft(textOf(input));
        return undefined;
      },
    },
    {
      name: "address in the console",
      covers: ["parseRoute"],
      kind: "text",
      examples: ["#/results/editor-health?metric=export.failed&last=30", "#/plan", "", "#/device/%F0%9F%98%80"].map(
        bytesOf,
      ),
      errors: [],
      run: (input) => {
        const { view, path, query } = parseRoute(textOf(input));
        const again = parseRoute(formatRoute({ view, path, query }));
        if (again.view !== view) throw new Violation("leads to another view when it is written again");
        return undefined;
      },
    },
  ];
}

/** What operators and analysts give to commands, and what services answer to them. */
export async function commandTargets(): Promise<Target[]> {
  return [...fileTargets(), optionTarget(), answerTarget(), ...consoleTargets()];
}
