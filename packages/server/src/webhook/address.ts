import { isIPv4 } from "node:net";
import { LetheError } from "@lethe/core/error";

/**
 * The address of a webhook. Throws unless outcomes go there encrypted, stay on this machine, or the operator allows
 * plain http. The message never quotes the address, which may hold a secret.
 */
export function requireWebhook(text: string, allowsHttp = false): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:";
  if (!url || !(url.protocol === "https:" || (isHttp && (allowsHttp || isLoopback(url))))) {
    const remedy = isHttp ? "; --webhook-over-http allows others, and everybody on the way reads what is posted" : "";
    throw new LetheError(
      "bad-role",
      `the webhook must be an https address, or an http address of this machine, like http://127.0.0.1:9000/outcomes${remedy}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new LetheError(
      "bad-role",
      "the webhook must not have a user or a password in its address: put a secret into its path or query",
    );
  }
  return url;
}

/** The parser has already written every form of an IPv4 address as four numbers. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}
