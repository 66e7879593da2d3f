import { readEnrolment, readManifest, readSignedManifest } from "@lethe/core/device";
import {
  decodeBase64url,
  decodeBase64urlOf,
  decodeOperatorKey,
  encodeBase64url,
  encodeEnrolment,
  encodeManifest,
  encodeOperatorKey,
  encodeSignedManifest,
  parseEnrolment,
  parseManifest,
  parseOperations,
  parseRelease,
  parseServiceInfo,
  parseSignedManifest,
  parseTask,
} from "@lethe/core/message";
import { encodeSignedShare, encodeWindowShare, parseSignedShare, parseWindowShare } from "@lethe/core/two-server";
import { manifestOf, RELEASES, SHARES, TASKS } from "../../../../server/test/message-examples.ts";
import { type Target, Violation } from "../target.ts";
import { bytesOf, enrolled, HELPER, jsonBytes, ONE_SERVER, OPERATOR, TWO_SERVERS, textOf } from "./fixtures.ts";

/** What was read must be read again from what it is written as, and be the same then. */
function stable<T>(read: (text: string) => T, write: (value: T) => string): (input: Uint8Array) => undefined {
  return (input) => {
    const text = write(read(textOf(input)));
    let again: string;
    try {
      again = write(read(text));
    } catch (error) {
      throw new Violation(`accepted, but not what it is written as: ${(error as Error).message}`);
    }
    if (again !== text) throw new Violation("changes when it is written and read again");
    if (JSON.stringify(Object.keys(Object.prototype)) !== "[]") throw new Violation("Object.prototype was changed");
    return undefined;
  };
}

type Reader = Pick<Target, "covers" | "examples" | "errors"> & { readonly run: Target["run"] };
const json = (name: string, rest: Reader): Target => ({ name, kind: "json", ...rest });

function taskTargets(): Target[] {
  const tasks = Object.values(TASKS);
  const manifests = [...ONE_SERVER, TWO_SERVERS].map(({ text }) => bytesOf(text));
  const signed = [...ONE_SERVER.slice(0, 3), TWO_SERVERS].map((each) => bytesOf(each.signed));
  return [
    {
      ...json("task file", {
        covers: ["parseTask", "parseJson"],
        examples: tasks.map(jsonBytes),
        errors: ["bad-task"],
        run: stable(parseTask, JSON.stringify),
      }),
      inCi: 1500,
    },
    {
      ...json("manifest", {
        covers: ["parseManifest", "readFields", "readMessage"],
        examples: [...manifests, ...tasks.map((task) => jsonBytes(manifestOf(parseTask(JSON.stringify(task)))))],
        errors: ["bad-encoding"],
        run: stable(parseManifest, encodeManifest),
      }),
      inCi: 1500,
    },
    json("manifest, at a device", {
      covers: ["readManifest"],
      examples: manifests,
      errors: ["bad-encoding", "bad-task"],
      // What the operator signed is not read in full.
      run: (input) => {
        const { ticks, tickSeconds, fromWindow } = readManifest(textOf(input));
        if (![ticks, tickSeconds, 1 + fromWindow].every((n) => n > 0)) throw new Violation("has no times");
        return undefined;
      },
    }),
    json("signed manifest", {
      covers: ["parseSignedManifest"],
      examples: signed,
      errors: ["bad-encoding"],
      run: stable(parseSignedManifest, encodeSignedManifest),
    }),
    json("signed manifest, at a device", {
      covers: ["readSignedManifest"],
      examples: signed,
      errors: ["bad-encoding"],
      run: stable(readSignedManifest, encodeSignedManifest),
    }),
  ];
}

function enrolmentTargets(): Target[] {
  const manifestHash = new Uint8Array(32).fill(4);
  const [task] = ONE_SERVER;
  if (!task) throw new TypeError("there is no task");
  const { device, publicKeys, signature } = enrolled(task);
  const answer = { device, uploadToken: "a-token", manifestHash };
  const signed = { publicKeys: publicKeys.slice(0, 90), signature };
  const one = encodeEnrolment({ ...answer, keys: [{ role: "tally", ...signed }] });
  const roles = ["leader", "helper"] as const;
  const two = encodeEnrolment({ ...answer, keys: roles.map((role) => ({ role, ...signed })) });
  const signers = [
    { role: "leader", key: OPERATOR.key },
    { role: "helper", key: HELPER.key },
  ] as const;
  return [
    json("enrolment", {
      covers: ["parseEnrolment"],
      examples: [one, two].map(bytesOf),
      errors: ["bad-encoding"],
      run: stable(parseEnrolment, (value) => encodeEnrolment(value)),
    }),
    json("enrolment, at a device", {
      covers: ["readEnrolment"],
      examples: [one, two].map(bytesOf),
      errors: ["bad-encoding"],
      run: (input) => {
        const { keys } = readEnrolment(textOf(input), signers);
        if (keys.length !== 2 || keys.some(({ signature: { length } }) => length !== 64)) {
          throw new Violation("accepted keys that are not signed");
        }
        return undefined;
      },
    }),
  ];
}

function resultTargets(): Target[] {
  const signature = new Uint8Array(64).fill(9);
  const shares = Object.values(SHARES);
  const documents = shares.map((share) => bytesOf(encodeWindowShare(share)));
  const times = { window: 5, state: "open", from: 1, to: 2, closes: 3 };
  const counts = { task: "a", version: 1, ...times, enrolled: 4, received: 2, minimumDevices: 3, refused: {} };
  const operations = {
    ...{ now: 1.5, role: "all", version: "1", ready: true, clockInDoubt: false },
    backlog: { reports: 1, keys: 2, windows: 0 },
    disk: { freeBytes: 1e9, isLow: false },
    helper: { url: "https://helper.example", answers: false, detail: "no" },
    tasks: [{ task: "a", version: 1, windowSeconds: 60, nextRelease: { window: 5, at: 9 }, windows: [counts] }],
  };
  const info = { version: "1", role: "all", now: 1, privateResults: false, isAdmin: true, hasDemonstration: false };
  return [
    json("release", {
      covers: ["parseRelease"],
      examples: Object.values(RELEASES).map(jsonBytes),
      errors: ["bad-encoding"],
      run: stable(parseRelease, JSON.stringify),
    }),
    json("signed share", {
      covers: ["parseSignedShare"],
      examples: shares.map((share) =>
        bytesOf(encodeSignedShare({ status: "shared", document: encodeWindowShare(share), signature })),
      ),
      errors: ["bad-encoding"],
      run: stable(parseSignedShare, encodeSignedShare),
    }),
    json("share of a window", {
      covers: ["parseWindowShare"],
      examples: documents,
      errors: ["bad-encoding"],
      run: stable(parseWindowShare, encodeWindowShare),
    }),
    json("service info", {
      covers: ["parseServiceInfo"],
      examples: [jsonBytes(info), jsonBytes({ ...info, tasks: ["a", "b"], operatorKey: OPERATOR.key })],
      errors: ["bad-encoding"],
      run: stable(parseServiceInfo, JSON.stringify),
    }),
    json("live view", {
      covers: ["parseOperations"],
      examples: [jsonBytes(operations), jsonBytes({ ...operations, ready: "no", tasks: [] })],
      errors: ["bad-encoding"],
      run: stable(parseOperations, JSON.stringify),
    }),
  ];
}

function textTargets(): Target[] {
  const bytes = Uint8Array.from({ length: 33 }, (_, i) => i * 7);
  return [
    {
      name: "base64url",
      covers: ["decodeBase64url", "decodeBase64urlOf"],
      kind: "text",
      examples: [0, 1, 2, 3, 16, 32, 33].map((length) => bytesOf(encodeBase64url(bytes.slice(0, length)))),
      errors: ["bad-encoding"],
      run: (input) => {
        const text = textOf(input);
        const decoded = decodeBase64url("a text", text);
        decodeBase64urlOf("a text", decoded.length, text);
        return bytesOf(encodeBase64url(decoded));
      },
    },
    {
      name: "operator key",
      covers: ["decodeOperatorKey"],
      kind: "text",
      examples: [OPERATOR.key, HELPER.key].map(bytesOf),
      errors: ["bad-encoding"],
      run: (input) => bytesOf(encodeOperatorKey(decodeOperatorKey(textOf(input)))),
    },
  ];
}

/** Texts and JSON that services, devices and analysts send each other. */
export async function messageTargets(): Promise<Target[]> {
  return [...taskTargets(), ...enrolmentTargets(), ...resultTargets(), ...textTargets()];
}
