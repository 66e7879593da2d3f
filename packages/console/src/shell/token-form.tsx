import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { saveToken, useToken } from "./token.ts";

/** Asks for the admin token, and says why. */
export function TokenForm({
  reason,
  title = "This view needs the admin token",
}: {
  reason?: string;
  title?: string;
}): JSX.Element {
  const token = useToken();
  const [text, setText] = useState("");
  return (
    <form
      class="state token"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") saveToken(text.trim());
      }}
    >
      <h2>{title}</h2>
      {token !== undefined && reason !== undefined && <p role="alert">{reason}</p>}
      <p>
        The operator has it: in <code>LETHE_ADMIN_TOKEN</code>, or in the file <code>admin-token</code> in the data
        folder. This tab keeps it until you close it.
      </p>
      <label>
        Admin token
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Continue</button>
      {token !== undefined && (
        <button type="button" class="quiet" onClick={() => saveToken(undefined)}>
          Forget the token
        </button>
      )}
    </form>
  );
}
