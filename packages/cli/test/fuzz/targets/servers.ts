import { createHmac } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LetheError } from "@lethe/core/error";
import { encodeBase64url } from "@lethe/core/message";
import { halfBytes, verifierBytes, WRAPPING_BYTES } from "@lethe/core/two-server";
import {
  openAnswer,
  openRequest,
  requireSameTime,
  sealAnswer,
  sealRefusal,
  sealRequest,
} from "../../../../server/dist/between/envelope.js";
import {
  decodeFinish,
  decodeJobEntries,
  decodeJobHead,
  decodeKeys,
  decodeKeysRequest,
  decodeVerifiers,
  encodeFinish,
  encodeJob,
  encodeKeys,
  encodeKeysRequest,
  encodeVerifiers,
} from "../../../../server/dist/between/messages.js";
import { requireOtherServer } from "../../../../server/dist/between/other-server.js";
import { HelperUnavailable } from "../../../../server/dist/leader/client.js";
import { fetchHelperRelease } from "../../../../server/dist/leader/helper-release.js";
import { hostsOf } from "../../../../server/dist/storage/database-url.js";
import { load, save } from "../../../../server/dist/tally/key-file-content.js";
import { openTally, sealTally } from "../../../../server/dist/tally/sealed-tally.js";
import { requireWebhook } from "../../../../server/dist/webhook/address.js";
import { type Target, Violation } from "../target.ts";
import { bytesOf, jsonBytes, MASTER, TWO_SERVERS, textOf } from "./fixtures.ts";

const SECRET = "a secret of leader and helper, for tests only";
const OPERATION = "job fuzzed 5";
const AT = 1_767_225_600;
const MAC = new Uint8Array(32).fill(8);

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const agreed = { manifestHash: filled(32, 1), helperCommitment: filled(32, 2) };

/** Authenticated by either server, so that everything behind the MAC is reached as well. */
function envelopeTargets(): Target[] {
  const refusals = (["window-closed", "reports-differ", "bad-encoding"] as const).map((code) => {
    return sealRefusal(SECRET, MAC, new LetheError(code, "so it is")).subarray(33);
  });
  return [
    {
      name: "request to a helper",
      covers: ["openRequest", "requireSameTime"],
      kind: "bytes",
      examples: [0, 1, 100].map((length) => filled(length, 5)),
      errors: ["unauthorized", "clocks-apart"],
      seal: (content) => sealRequest(SECRET, OPERATION, AT, content),
      run: (input) => {
        const request = openRequest(SECRET, OPERATION, input);
        requireSameTime(request, AT);
        return sealRequest(SECRET, OPERATION, request.at, request.payload);
      },
    },
    {
      name: "answer of a helper",
      covers: ["openAnswer"],
      kind: "bytes",
      examples: [0, 1, 100].map((length) => filled(length, 5)),
      errors: ["unauthorized"],
      seal: (content) => sealAnswer(SECRET, MAC, content),
      run: (input) => sealAnswer(SECRET, MAC, openAnswer(SECRET, MAC, input)),
    },
    {
      name: "refusal of a helper",
      covers: ["openAnswer"],
      kind: "json",
      examples: refusals,
      errors: ["unauthorized", "bad-answer"],
      seal: sealed,
      run: (input) => {
        try {
          openAnswer(SECRET, MAC, input);
        } catch (error) {
          // The helper's own code and words.
          if (input[0] === 1 && typeof (error as LetheError).code === "string") return undefined;
          throw error;
        }
        if (input[0] !== 0) throw new Violation("a refusal was taken for an answer");
        return undefined;
      },
    },
  ];
}

/** A refusal with any content: `sealRefusal` writes none that cannot be read. */
function sealed(content: Uint8Array): Uint8Array {
  const head = Uint8Array.of(1);
  const mac = createHmac("sha256", SECRET).update("lethe peer answer\n").update(MAC).update(head).update(content);
  return new Uint8Array(Buffer.concat([head, mac.digest(), content]));
}

function betweenTargets(): Target[] {
  const devices = [1, 2, 3].map((n) => filled(16, n));
  const keys = devices.map((_, i) => ({ publicKeys: filled(66, i), signature: filled(64, i) }));
  const issued = encodeKeys({ helperCommitment: filled(32, 2), keys });
  const { layout } = TWO_SERVERS;
  const statistics = layout.map(({ statistic }) => statistic);
  const verifier = verifierBytes(statistics);
  const sizes = { group: 1, half: halfBytes(layout, "helper") + WRAPPING_BYTES, verifier };
  const entries = devices.map((device, i) => ({
    device,
    groupByte: Uint8Array.of(i),
    report: filled(16, i),
    half: filled(sizes.half, i),
    leaderVerifier: filled(verifier, i),
  }));
  const of = (name: string, rest: Pick<Target, "covers" | "examples" | "run">): Target => {
    return { name, kind: "bytes", errors: ["bad-encoding"], ...rest };
  };
  return [
    of("request for keys", {
      covers: ["decodeKeysRequest"],
      examples: [encodeKeysRequest(agreed, devices), encodeKeysRequest(agreed, [])],
      run: (input) => {
        const { devices: found, ...same } = decodeKeysRequest(input);
        return encodeKeysRequest(same, found);
      },
    }),
    of("keys from a helper", {
      covers: ["decodeKeys"],
      examples: [issued],
      run: (input) => encodeKeys(decodeKeys(input, devices.length)),
    }),
    of("job for a helper", {
      covers: ["decodeJobHead", "decodeJobEntries"],
      examples: [0, 1, 3].map((n) => encodeJob({ ...agreed, verifyKey: filled(32, 3) }, entries.slice(0, n))),
      run: (input) => {
        const { rest, ...head } = decodeJobHead(input);
        return encodeJob(head, decodeJobEntries(rest, sizes));
      },
    }),
    of("request to finish", {
      covers: ["decodeFinish"],
      examples: [0, 3, 1e6].map((received) => encodeFinish(agreed, { received, reports: filled(32, 4) })),
      run: (input) => {
        const { received, reports, ...same } = decodeFinish(input);
        // Numbers of reports are compared; of those that are none the encoding is not kept.
        return Number.isNaN(received) ? undefined : encodeFinish(same, { received, reports });
      },
    }),
    of("verifiers of a helper", {
      covers: ["decodeVerifiers"],
      examples: [encodeVerifiers(entries.map(({ leaderVerifier }) => leaderVerifier))],
      run: (input) => encodeVerifiers(decodeVerifiers(input, entries.length, verifier)),
    }),
  ];
}

const folder = mkdtempSync(join(tmpdir(), "lethe-fuzz-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

function fileTargets(): Target[] {
  const [path, again] = [join(folder, "keys.json"), join(folder, "again.json")];
  const secret = encodeBase64url(filled(32, 1));
  const content = { version: 1, operator: secret, chain: encodeBase64url(filled(32, 2)), windows: {} };
  const tallies = [
    { kind: "sums", sums: [[1, 2], [3]], received: [2], invalid: 0.5 },
    { kind: "share", shares: [filled(16, 1), undefined], received: [1, 0], invalid: 1 },
  ] as const;
  return [
    {
      name: "key file",
      covers: ["load", "openKeyFile"],
      kind: "json",
      examples: [content, { ...content, database: "an id", windows: { "a/1": secret, "b/2": secret } }].map(jsonBytes),
      errors: ["bad-key-file"],
      inCi: 1500,
      run: (input) => {
        writeFileSync(path, input);
        chmodSync(path, 0o600);
        const found = load(path);
        rmSync(again, { force: true });
        save(again, found);
        if (load(again).windows.size !== found.windows.size) throw new Violation("loses windows");
        return undefined;
      },
    },
    {
      name: "sealed tally",
      covers: ["openTally"],
      kind: "bytes",
      examples: tallies.map((tally) => new Uint8Array(sealTally(MASTER, tally))),
      errors: [],
      // What a window counted is in the operator's own database. An operator who changes it makes the window fail, with any error.
      otherErrors: ["Error", "TypeError", "RangeError"],
      inCi: 5000,
      run: (input) => {
        openTally(MASTER, input, "sums");
        return undefined;
      },
    },
  ];
}

function addressTargets(): Target[] {
  const texts = (name: string, rest: Pick<Target, "covers" | "errors" | "run">, ...examples: string[]): Target => {
    return { name, kind: "text", examples: examples.map(bytesOf), ...rest };
  };
  return [
    texts(
      "address of a database",
      { covers: ["hostsOf"], errors: ["bad-database"], run: (input) => void hostsOf(textOf(input)) },
      "postgres://lethe:sesame@db.internal:6432/lethe?sslmode=verify-full",
      "postgresql://u:p@a:1,b,[::1]:3/db?target_session_attrs=read-write",
      "postgres:///lethe?host=/run/postgresql",
    ),
    texts(
      "address of a webhook",
      { covers: ["requireWebhook"], errors: ["bad-role"], run: (input) => void requireWebhook(textOf(input)) },
      "https://hooks.example.com/lethe?key=secret",
      "http://127.0.0.1:9000/",
      "http://[::1]:9000/",
    ),
    texts(
      "other server",
      {
        covers: ["requireOtherServer"],
        errors: ["bad-role", "bad-encoding"],
        run: (input) => {
          const [url = "", secret = "", operatorKey = ""] = textOf(input).split("\n");
          requireOtherServer({ url, secret, operatorKey }, "leader", "");
          return undefined;
        },
      },
      `https://helper.example\n${SECRET}\n${TWO_SERVERS.manifest.servers[1]?.key}`,
    ),
  ];
}

/** What the helper's public address answers to a leader that passes it on. */
function passedOnTarget(): Target {
  return {
    name: "release of a helper",
    covers: ["fetchHelperRelease"],
    kind: "json",
    examples: [
      { status: "shared", document: "{}", signature: "" },
      { code: "window-not-open", detail: "soon" },
    ].map(jsonBytes),
    errors: ["window-not-open", "bad-encoding", "unknown-task"],
    run: async (input) => {
      const status = (input[0] ?? 0) % 2 === 0 ? 200 : 404;
      const answer = async (): Promise<Response> => new Response(input as Uint8Array<ArrayBuffer>, { status });
      try {
        await fetchHelperRelease("https://helper.example", { task: "fuzzed", window: 5 }, answer);
      } catch (error) {
        if (!(error instanceof HelperUnavailable)) throw error;
      }
      return undefined;
    },
  };
}

/** What servers send each other, and what their operators give them. */
export async function serverTargets(): Promise<Target[]> {
  return [...envelopeTargets(), ...betweenTargets(), ...fileTargets(), ...addressTargets(), passedOnTarget()];
}
