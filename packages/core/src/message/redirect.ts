import { LetheError } from "../error.ts";

/** What is needed of a `Response` to `fetch` with `redirect: "manual"`. */
export interface Redirecting {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}

/**
 * Throws `redirected` if the answer of `server` is a redirect. Reports, tokens and secrets go to the address that somebody
 * configured and to no other, so no client of ours follows one. The message names both addresses; a browser does not show
 * the second. Of that it has what a client would be given, without path, query and fragment of the request.
 */
export function requireNoRedirect(server: string, { status, headers }: Redirecting): void {
  // A browser gives 0.
  if (status >= 400 || (status >= 200 && status < 300)) return;
  const target = headers.get("location")?.match(/^.{0,200}?(?=\/v1\/|[?#]|$)/) ?? "elsewhere";
  throw new LetheError("redirected", `${server} redirects to ${target}: use the service's own address`);
}
