import { LetheError } from "../error.ts";

/** What is needed of a `Response` to `fetch` with `redirect: "manual"`. */
export interface Redirecting {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/**
 * Where an answer redirects to, as a client would be given it: without the path, query and fragment of the request. A
 * browser does not show that, and a target of more than 200 characters is not worth it: then `elsewhere`. Undefined if
 * it is no redirect.
 */
export function redirectTarget({ status, headers }: Redirecting): string | undefined {
  // A browser gives 0.
  if (status >= 400 || (status >= 200 && status < 300)) return undefined;
  return headers.get("location")?.match(/^.{0,200}?(?=\/v1\/|[?#]|$)/)?.[0] ?? "elsewhere";
}

/**
 * Throws `redirected` if the answer of `server` is a redirect. Reports, tokens and secrets go to the address that
 * somebody configured and to no other, so no client of ours follows one.
 */
export function requireNoRedirect(server: string, response: Redirecting): void {
  const target = redirectTarget(response);
  if (target) throw new LetheError("redirected", `${server} redirects to ${target}: use the service's own address`);
}
