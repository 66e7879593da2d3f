import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { closestStop, type Stops } from "./stops.ts";

/** A slider with a number beside it; both change the same value, and a sentence says what it means. */
export function Slider({
  label,
  value,
  stops,
  inWords,
  children,
  disabled,
  onChange,
}: {
  label: string;
  /** Undefined if there is none. */
  value: number | undefined;
  stops: Stops;
  /** For screen readers: "20,000 devices". */
  inWords: (value: number) => string;
  /** The sentence. */
  children: string;
  disabled: boolean;
  onChange: (value: number) => void;
}): JSX.Element {
  const id = useId();
  // What is typed, as it is typed, until the reader leaves the field.
  const [typed, setTyped] = useState<string>();
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={stops.length - 1}
        step={1}
        value={value === undefined ? 0 : closestStop(stops, value)}
        disabled={disabled}
        aria-valuetext={value === undefined ? "not set" : inWords(value)}
        aria-describedby={`${id}-note`}
        onInput={(event) => onChange(stops[event.currentTarget.valueAsNumber] as number)}
      />
      <input
        type="number"
        step="any"
        aria-label={`${label}, as a number`}
        value={typed ?? (value === undefined ? "" : String(value))}
        disabled={disabled}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          if (Number.isFinite(currentTarget.valueAsNumber)) onChange(currentTarget.valueAsNumber);
        }}
        onBlur={() => setTyped(undefined)}
      />
      <output id={`${id}-note`} for={id} aria-live="off">
        {children}
      </output>
    </div>
  );
}
