import { createHmac, randomBytes } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import { describe, expect, it } from "vitest";
import {
  macOfRequest,
  openAnswer,
  openRequest,
  requireSameTime,
  sealAnswer,
  sealRefusal,
  sealRequest,
} from "./envelope.ts";

const SECRET = "a secret that leader and helper share, and nobody else";
const WHAT = "job editor-health 7";
const AT = 1_767_225_600.25;
const PAYLOAD = new Uint8Array(randomBytes(40));
const request = sealRequest(SECRET, WHAT, AT, PAYLOAD);
const mac = macOfRequest(request);

/** The error that this throws, which tells nothing of the secret. */
function errorOf(act: () => unknown): LetheError {
  try {
    act();
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("nobody else");
    return error;
  }
  throw new TypeError("nothing was thrown");
}

/** The bytes with one bit of each byte changed, one after another; then shortened and lengthened. */
function* altered(bytes: Uint8Array): Generator<Uint8Array> {
  for (const i of bytes.keys()) yield bytes.map((byte, j) => (i === j ? byte ^ (1 << (i % 8)) : byte));
  for (const length of [0, 1, 7, 8, 32, 33, 39, 40, bytes.length - 1]) yield bytes.subarray(0, length);
  yield Uint8Array.of(...bytes, 0);
}

describe("a request", () => {
  it("arrives as it was sent, with the sender's time", () => {
    const opened = openRequest(SECRET, WHAT, request);
    expect([...opened.payload]).toEqual([...PAYLOAD]);
    expect([...opened.mac]).toEqual([...mac]);
    expect(opened.at).toBe(AT);
    const empty = sealRequest(SECRET, WHAT, AT, new Uint8Array());
    expect(openRequest(SECRET, WHAT, empty).payload).toHaveLength(0);
  });

  it("with any byte altered, shortened or lengthened is refused", () => {
    for (const bytes of altered(request)) {
      expect(errorOf(() => openRequest(SECRET, WHAT, bytes)).code).toBe("unauthorized");
    }
  });

  it("for another operation, task or window is refused, as is one under another secret", () => {
    for (const other of ["finish editor-health 7", "job editor 7", "job editor-health 8", "job editor-health 70", ""]) {
      expect(errorOf(() => openRequest(SECRET, other, request)).code).toBe("unauthorized");
    }
    expect(errorOf(() => openRequest(`${SECRET}.`, WHAT, request)).code).toBe("unauthorized");
  });

  it("of more than a minute ago or ahead is refused, and the clocks are named", () => {
    const opened = openRequest(SECRET, WHAT, request);
    for (const apart of [-60, 0, 60]) requireSameTime(opened, AT + apart);
    expect(errorOf(() => requireSameTime(opened, AT + 61))).toMatchObject({
      code: "clocks-apart",
      message: expect.stringContaining("61 seconds behind"),
    });
    expect(errorOf(() => requireSameTime(opened, AT - 3600))).toMatchObject({
      code: "clocks-apart",
      message: expect.stringContaining("3600 seconds ahead"),
    });
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e300]) {
      const odd = openRequest(SECRET, WHAT, sealRequest(SECRET, WHAT, at, PAYLOAD));
      expect(errorOf(() => requireSameTime(odd, AT)).code).toBe("clocks-apart");
    }
  });
});

describe("an answer", () => {
  const answer = sealAnswer(SECRET, mac, PAYLOAD);

  it("arrives as it was given", () => {
    expect([...openAnswer(SECRET, mac, answer)]).toEqual([...PAYLOAD]);
    expect(openAnswer(SECRET, mac, sealAnswer(SECRET, mac, new Uint8Array()))).toHaveLength(0);
  });

  it("with any byte altered, to another request or under another secret is refused", () => {
    for (const bytes of altered(answer)) {
      expect(errorOf(() => openAnswer(SECRET, mac, bytes)).code).toBe("unauthorized");
    }
    const other = macOfRequest(sealRequest(SECRET, WHAT, AT + 1, PAYLOAD));
    expect(errorOf(() => openAnswer(SECRET, other, answer)).code).toBe("unauthorized");
    expect(errorOf(() => openAnswer(`${SECRET}.`, mac, answer)).code).toBe("unauthorized");
    // A request sent back is no answer.
    expect(errorOf(() => openAnswer(SECRET, mac, request)).code).toBe("unauthorized");
    expect(errorOf(() => openRequest(SECRET, WHAT, answer)).code).toBe("unauthorized");
  });

  it("that refuses arrives with its code and its reason, and cannot be made into one that does not", () => {
    const refusal = sealRefusal(SECRET, mac, new LetheError("reports-differ", "window 7 is lost"));
    const error = errorOf(() => openAnswer(SECRET, mac, refusal));
    expect(error).toMatchObject({ code: "reports-differ", message: "window 7 is lost" });
    for (const bytes of altered(refusal)) {
      expect(errorOf(() => openAnswer(SECRET, mac, bytes)).code).toBe("unauthorized");
    }
  });
});

it.each([
  "",
  "no JSON",
  "null",
  "[]",
  '{"code":{},"message":"a"}',
  '{"code":"window-closed"}',
  '{"code":1,"message":2}',
])("a refusal that is %s is a bad answer", (text) => {
  const head = Uint8Array.of(1);
  const hmac = createHmac("sha256", SECRET).update("lethe peer answer\n").update(mac).update(head).update(text);
  const refusal = Buffer.concat([head, hmac.digest(), Buffer.from(text)]);
  expect(errorOf(() => openAnswer(SECRET, mac, refusal)).code).toBe("bad-answer");
});

it("neither a request nor an answer shows the secret", () => {
  for (const bytes of [request, sealAnswer(SECRET, mac, PAYLOAD)]) {
    expect(Buffer.from(bytes).includes(SECRET.slice(0, 8))).toBe(false);
  }
});
