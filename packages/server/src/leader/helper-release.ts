import { LetheError } from "@lethe/core/error";
import { isProblemCode } from "@lethe/core/message";
import { HelperUnavailable } from "./client.ts";

const TIMEOUT_MS = 10_000;

/**
 * What the helper at this address has published about a window: the JSON text that it sent, whose signature the reader
 * has to check. Throws the helper's refusal, or `HelperUnavailable` if it does not answer, or not to everybody.
 */
export async function fetchHelperRelease(
  url: string,
  { task, window }: { readonly task: string; readonly window: number },
  ask: typeof fetch = fetch,
): Promise<string> {
  try {
    const response = await ask(`${url}/v1/tasks/${task}/releases/${window}`, {
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown };
    if (response.status === 200) return text;
    if (typeof code === "string" && isProblemCode(code) && code !== "unauthorized") {
      throw new LetheError(code, `at the helper: ${detail}`);
    }
    throw new Error(`it answered ${response.status}`);
  } catch (error) {
    if (error instanceof LetheError) throw error;
    throw new HelperUnavailable(`the helper at ${url} cannot be asked for its release`, { cause: error });
  }
}
