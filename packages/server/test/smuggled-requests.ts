/** A message that two parsers may end at different places, and what would then follow it as a separate request. */
export interface Ambiguous {
  readonly what: string;
  /** Bytes, as latin1. */
  readonly text: string;
  /**
   * How many requests a strict reader (RFC 9112) finds: 0 if it must refuse the first one, 1 if the rest is its body, 2
   * if the client has just sent two.
   */
  readonly requests: 0 | 1 | 2;
}

/**
 * The messages that smuggle requests past one of two servers in a row, with `inner` inside, a separate request. The
 * message asks `outer`, a path that takes a JSON body of any length.
 */
export function ambiguousMessages(outer: string, inner: string): readonly Ambiguous[] {
  const head = (...lines: string[]): string =>
    [`POST ${outer} HTTP/1.1`, "Host: test", "Content-Type: application/json", ...lines, "", ""].join("\r\n");
  const chunked = "Transfer-Encoding: chunked";
  const size = (text: string): string => text.length.toString(16);
  /** No body by its chunks; `inner` is the body by Content-Length. */
  const empty = `0\r\n\r\n${inner}`;
  /** `inner` is the body by its chunks. */
  const full = `${size(inner)}\r\n${inner}\r\n0\r\n\r\n`;
  const refused = (what: string, text: string): Ambiguous => ({ what, text, requests: 0 });
  const lengths = (...values: string[]): string[] => values.map((value) => `Content-Length: ${value}`);
  return [
    refused("CL.TE", head(`Content-Length: ${empty.length}`, chunked) + empty),
    refused("TE.CL", head(chunked, "Content-Length: 4") + full),
    refused("TE.CL, as in HTTP/1.0", head(chunked, "Content-Length: 4").replace("HTTP/1.1", "HTTP/1.0") + full),
    ...[
      ["an unknown coding", "Transfer-Encoding: xchunked"],
      ["chunked, but not last", "Transfer-Encoding: chunked, identity"],
      ["a space before the colon", "Transfer-Encoding : chunked"],
      ["a control character before the value", "Transfer-Encoding:\x0bchunked"],
      ["a zero byte in the value", "Transfer-Encoding: chun\0ked"],
      ["a folded line", "Transfer-Encoding:\r\n chunked"],
      ["a separate line after a bare LF", "X-Nothing: x\nTransfer-Encoding: chunked"],
      ["a separate line after a bare CR", "X-Nothing: x\rTransfer-Encoding: chunked"],
      ["twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"],
    ].map(([how = "", line = ""]) => refused(`TE.TE: ${how}`, head(`Content-Length: ${empty.length}`, line) + empty)),
    refused("two lengths", head(...lengths("0", String(inner.length))) + inner),
    refused("two lengths in one line", head(...lengths(`0, ${inner.length}`)) + inner),
    refused("the same length twice", head(...lengths("0", "0")) + inner),
    ...["+0", "-1", "0x0", "0 0", "", "00000000000000000000000000000000000001e", "18446744073709551616"].map((value) =>
      refused(`the length ${JSON.stringify(value)}`, head(...lengths(value)) + inner),
    ),
    refused("a folded length", head("Content-Length:\r\n 0") + inner),
    refused("a space before the length's colon", head("Content-Length : 0") + inner),
    refused("a head that ends with bare LFs", head(...lengths("0")).replaceAll("\r\n", "\n") + inner),
    refused("a head that ends with CR LF CR X", `${head(...lengths("0")).slice(0, -1)}X${inner}`),
    refused("a chunk size with a sign", `${head(chunked)}+0\r\n\r\n${inner}`),
    refused("a chunk size in 0x", `${head(chunked)}0x0\r\n\r\n${inner}`),
    refused("a chunk size beyond 64 bits", `${head(chunked)}10000000000000000\r\n\r\n${inner}`),
    refused("a chunk that ends with a bare LF", `${head(chunked)}2\r\n{}\n0\r\n\r\n${inner}`),
    refused("a chunk's size that ends with a bare LF", `${head(chunked)}2\n{}\r\n0\r\n\r\n${inner}`),
    refused("a chunk's extension with a bare LF", `${head(chunked)}2;a\n{}\r\n0\r\n\r\n${inner}`),
    refused("a chunk with more than its size", `${head(chunked)}2\r\n{} \r\n0\r\n\r\n${inner}`),
    { what: "chunk extensions", text: `${head(chunked)}2;a=b;c="d"\r\n{}\r\n0;e\r\n\r\n${inner}`, requests: 2 },
    { what: "two requests, the first chunked", text: head(chunked) + empty, requests: 2 },
    { what: "two requests, the first with a length", text: head(...lengths("0")) + inner, requests: 2 },
    { what: "a body that looks like a request", text: head(...lengths(String(inner.length))) + inner, requests: 1 },
    { what: "chunks that look like a request", text: head(chunked) + full, requests: 1 },
  ];
}
