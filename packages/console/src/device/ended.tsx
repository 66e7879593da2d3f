import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Empty } from "../shell/states.tsx";
import type { Ending } from "./use-device.ts";

/** A device that is gone, with a way to a new one. */
export function Ended({ why, again }: { why: Ending; again: () => void }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    // The button that wiped it is gone.
    if (why === "wiped here") button.current?.focus();
  }, [why]);
  return (
    <Empty title={why === "wiped here" ? "Nothing is stored any more" : "Another tab has this device now"}>
      <p>
        {why === "wiped here"
          ? "The SDK removed its record from this browser, as it does when somebody withdraws consent."
          : "There is one device of this kind per browser. A new one ends that of the other tab."}
      </p>
      <button type="button" ref={button} onClick={again}>
        Start a new device
      </button>
    </Empty>
  );
}
