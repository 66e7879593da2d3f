import type { Refusal } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { useSecondsUntil } from "./now.ts";
import { SERVER } from "./server.ts";
import { saveToken, useToken } from "./token.ts";

/** What became of the last token that was entered. `until` is when the service compares tokens again, in milliseconds. */
interface Refused {
  readonly why: string;
  readonly until: number;
}

/**
 * Asks for the admin token. The service confirms a token before this tab keeps it. `reason` is why the one that the tab
 * has does not do.
 */
export function TokenForm({
  reason,
  title = "This view needs the admin token",
}: {
  reason?: string;
  title?: string;
}): JSX.Element {
  const token = useToken();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isChecking, setChecking] = useState(false);
  const [refused, setRefused] = useState<Refused>();
  const wait = useSecondsUntil(refused?.until ?? 0);
  const problem = refused?.why ?? (token === undefined ? undefined : reason);
  const enter = async (entered: string): Promise<void> => {
    setChecking(true);
    const why = await whyRefused(entered);
    setChecking(false);
    setRefused(why);
    if (why) input.current?.focus();
    else saveToken(entered);
  };
  return (
    <form
      class="state token"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "" && !isChecking && wait === 0) void enter(text.trim());
      }}
    >
      <h2>{title}</h2>
      <p>
        The operator has it: in <code>LETHE_ADMIN_TOKEN</code>, or in the file <code>admin-token</code> in the data
        folder. This tab keeps it until you close it.
      </p>
      <label>
        Admin token
        <input
          ref={input}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          aria-invalid={problem !== undefined}
          aria-describedby="token-problem"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p id="token-problem" class="problem" role="alert">
        {problem}
      </p>
      <button type="submit" disabled={isChecking || wait > 0}>
        {wait > 0 ? `Continue in ${wait} s` : "Continue"}
      </button>{" "}
      {token !== undefined && <ForgetToken />}
    </form>
  );
}

/** Makes this tab forget the admin token. */
export function ForgetToken(): JSX.Element {
  return (
    <button type="button" class="quiet" onClick={() => saveToken(undefined)}>
      Forget the token
    </button>
  );
}

/** Asks the service about a token. Undefined if it is the admin's. */
async function whyRefused(token: string): Promise<Refused | undefined> {
  try {
    const { fetchServiceInfo } = await import("./info.ts");
    const { isAdmin } = await fetchServiceInfo(SERVER, { token });
    return isAdmin ? undefined : { why: "The service refuses this token.", until: 0 };
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    if (error.code !== "rate-limited") return { why: error.message, until: 0 };
    const { retryAfter = 0 } = error as Partial<Refusal>;
    return { why: tooMany(retryAfter), until: Date.now() + 1000 * retryAfter };
  }
}

/** Why the service does not even compare tokens, and for how long. */
export function tooMany(seconds: number): string {
  return `Too many wrong tokens came from your address. The service compares none for ${seconds} s.`;
}
