import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "../../test/refusal.ts";
import { decodeBase64url, decodeBase64urlOf, encodeBase64url } from "./index.ts";

const someBytes = fc.uint8Array({ maxLength: 100 });

const isRefused = (text: string): void => {
  expect(refusal(() => decodeBase64url("a token", text))).toBe("a token is not base64url");
};

describe("base64url", () => {
  it("has the vectors of RFC 4648, §10, without padding", () => {
    for (const [bytes, text] of [
      ["", ""],
      ["f", "Zg"],
      ["fo", "Zm8"],
      ["foo", "Zm9v"],
      ["foob", "Zm9vYg"],
      ["fooba", "Zm9vYmE"],
      ["foobar", "Zm9vYmFy"],
    ] as const) {
      expect(encodeBase64url(new TextEncoder().encode(bytes))).toBe(text);
    }
  });

  it("writes what Node's own encoder writes", () => {
    fc.assert(
      fc.property(someBytes, (bytes) => {
        expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
      }),
    );
  });

  it("is inverted by decoding", () => {
    fc.assert(
      fc.property(someBytes, (bytes) => {
        expect(decodeBase64url("bytes", encodeBase64url(bytes))).toStrictEqual(bytes);
        expect(decodeBase64urlOf("bytes", bytes.length, encodeBase64url(bytes))).toStrictEqual(bytes);
      }),
    );
  });

  it("does not read beyond a view into a larger buffer", () => {
    expect(encodeBase64url(Uint8Array.of(1, 2, 255, 255, 255).subarray(1, 3))).toBe("Av8");
  });
});

describe("decoding accepts exactly what encoding returns", () => {
  it("for any text of the alphabet", () => {
    const digit = fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
    fc.assert(
      fc.property(fc.string({ unit: digit, maxLength: 12 }), (text) => {
        // Node decodes leniently, so that a text is canonical exactly if it comes back.
        const canonical = Buffer.from(text, "base64url").toString("base64url") === text;
        if (canonical) expect(encodeBase64url(decodeBase64url("a token", text))).toBe(text);
        else isRefused(text);
      }),
      { numRuns: 1000 },
    );
  });

  it("not padding, white space, the other alphabet, or characters from beyond it", () => {
    fc.assert(
      fc.property(
        someBytes,
        fc.constantFrom("=", " ", "\n", "\t", "+", "/", ".", "\0", "é", "Ａ", "😀", "\ud800"),
        fc.nat(),
        (bytes, foreign, place) => {
          const text = encodeBase64url(bytes);
          const at = place % (text.length + 1);
          isRefused(text.slice(0, at) + foreign + text.slice(at));
        },
      ),
    );
    for (const text of ["Zg==", "Zm8=", " Zg", "Zg ", "Zg\n", "Zm9v\r\nYmFy", "-_-+", "-_/_"]) isRefused(text);
  });

  it("not stray bits behind the last byte", () => {
    for (const text of ["Zh", "Zv", "Zm9", "Zm-", "AB", "AAB", "__", "___"]) isRefused(text);
    expect(decodeBase64url("a token", "_w")).toStrictEqual(Uint8Array.of(255));
    expect(decodeBase64url("a token", "__8")).toStrictEqual(Uint8Array.of(255, 255));
  });

  it("not a lone digit at the end", () => {
    for (const text of ["A", "_", "AAAAA", "Zm9vA"]) isRefused(text);
  });

  it("and of a known number of bytes, only that many", () => {
    fc.assert(
      fc.property(someBytes, fc.nat({ max: 100 }), (bytes, length) => {
        const read = () => decodeBase64urlOf("a token", length, encodeBase64url(bytes));
        if (length === bytes.length) expect(read()).toStrictEqual(bytes);
        else expect(refusal(read)).toBe(`a token is ${length} bytes in base64url`);
      }),
    );
    expect(refusal(() => decodeBase64urlOf("a token", 1, "Zh"))).toBe("a token is not base64url");
  });
});
