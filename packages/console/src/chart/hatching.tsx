import type { JSX } from "preact";

/** Oblique lines, for what has no value: `fill="url(#id)"`. They are no bar of any height. */
export function Hatching({ id }: { id: string }): JSX.Element {
  return (
    <defs>
      <pattern id={id} width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="gap" width="8" height="8" />
        <line class="hatch" x1="0" y1="0" x2="0" y2="8" />
      </pattern>
    </defs>
  );
}
