import { remember } from "../async/remember.ts";

/** Whether the helper answers, for the leader's operator. */
export interface HelperHealth {
  readonly url: string;
  readonly answers: boolean;
  /** In one line: "ready", why the helper is not ready, or why it does not answer. */
  readonly detail: string;
}

const TIMEOUT_MS = 2000;
const AGE_MS = 5000;
const MOST_CHARACTERS = 500;

/** Asks the helper at this address whether it is ready, at most every five seconds. Never rejects. */
export function createHealthCheck(url: string, ask: typeof fetch = fetch): () => Promise<HelperHealth> {
  return remember(AGE_MS, async () => {
    try {
      const response = await ask(`${url}/readyz`, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
      const text = await beginningOf(response);
      const answers = /^(ready|not ready: .*)$/.test(text);
      return { url, answers, detail: answers ? text : `what answers at ${url} is not a helper (${response.status})` };
    } catch {
      return { url, answers: false, detail: `no answer within ${TIMEOUT_MS / 1000} s` };
    }
  });
}

/** The first line of a text, as far as people read, without characters that a terminal would obey. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && text.length < MOST_CHARACTERS) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  void reader?.cancel();
  return text
    .slice(0, MOST_CHARACTERS)
    .trimEnd()
    .replaceAll(/\p{Cc}/gu, " ");
}
