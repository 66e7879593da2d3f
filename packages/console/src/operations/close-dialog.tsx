import { closeWindow } from "@lethe/analyst";
import { LetheError } from "@lethe/core/error";
import type { WindowStatus } from "@lethe/core/message";
import type { JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { dateAndTime } from "../format/time.ts";
import { consequencesOf } from "./live.ts";

/** Whom to ask: the service of this page, with the admin token. */
export interface Source {
  readonly server: string;
  readonly token: string | undefined;
}

/** A window that was closed. */
export type ClosedWindow = Pick<WindowStatus, "window" | "received">;

/** Asks whether a window is really to be closed before its time, and closes it. `onEnd` gets it, if it was closed. */
export function CloseDialog({
  status,
  source: { server, token },
  onEnd,
}: {
  status: WindowStatus;
  source: Source;
  onEnd: (closed: ClosedWindow | undefined) => void;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isClosing, setClosing] = useState(false);
  const [problem, setProblem] = useState("");
  const { task, window, closes } = status;
  useEffect(() => dialog.current?.showModal(), []);
  const close = async (): Promise<void> => {
    setClosing(true);
    setProblem("");
    try {
      onEnd(await closeWindow(server, token ?? "", task, window));
    } catch (error) {
      if (!(error instanceof LetheError)) throw error;
      setProblem(error.message);
      setClosing(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => onEnd(undefined)}>
      <h2 id={id}>
        Close window {window} of {task} now?
      </h2>
      <p>It closes by itself {dateAndTime(closes)}.</p>
      <ul>
        {consequencesOf(status).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <p class="problem" role="alert">
        {problem}
      </p>
      <div class="dialog-actions">
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Leave it open
        </button>
        <button type="button" disabled={isClosing} onClick={() => void close()}>
          {isClosing ? "Closing …" : "Close the window"}
        </button>
      </div>
    </dialog>
  );
}
