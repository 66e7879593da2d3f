import type { JSX } from "preact";
import { useState } from "preact/hooks";

/** More events than these are in a list. */
const MOST_BUTTONS = 6;

/** A button per event; if there are many, a list of them and one button. */
export function RecordButtons({
  events,
  isDisabled,
  onRecord,
}: {
  events: readonly string[];
  isDisabled: boolean;
  onRecord: (name: string) => void;
}): JSX.Element {
  const [chosen, setChosen] = useState(events[0] ?? "");
  if (events.length <= MOST_BUTTONS) {
    return (
      <fieldset class="record">
        <legend>Record an event</legend>
        {events.map((name) => (
          <button type="button" key={name} disabled={isDisabled} onClick={() => onRecord(name)}>
            {name}
          </button>
        ))}
      </fieldset>
    );
  }
  return (
    <fieldset class="record">
      <legend>Record an event</legend>
      <select aria-label="Event" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
        {events.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button type="button" disabled={isDisabled} onClick={() => onRecord(chosen)}>
        Record it
      </button>
    </fieldset>
  );
}
