/**
 * Posts a document. Returns undefined if the receiver answered with 2xx, otherwise why not, in a few words that hold
 * nothing of the address. Redirects are not followed: the document goes to the operator's own address and to no other.
 */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    // Nobody reads the answer, however long it is.
    await response.body?.cancel();
    if (response.ok) return undefined;
    const isRedirect = response.status >= 300 && response.status < 400;
    return `the receiver answered ${response.status}${isRedirect ? ", a redirect: give its own address" : ""}`;
  } catch (error) {
    return signal.aborted ? "the receiver did not answer in time" : `the receiver cannot be reached${codeOf(error)}`;
  }
}

/** The system's name of what went wrong, such as ECONNREFUSED. Messages may quote the address. */
function codeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^\w+$/.test(code) ? ` (${code})` : "";
}
