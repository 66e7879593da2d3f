import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** What a plot is drawn at before its place is measured, and without one. */
const USUAL = 720;

/**
 * The width of the place that a plot fills, in CSS pixels; follows it. A plot that is drawn at this width has letters of
 * the same size on a phone and on a wide screen. The first measurement happens before anything is painted.
 */
export function useWidth(least = 240): readonly [RefObject<SVGSVGElement | null>, number] {
  const ref = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(USUAL);
  useLayoutEffect(() => {
    const place = ref.current?.parentElement;
    if (!place) return undefined;
    // A hidden place has no width, and its plot keeps the last one.
    const measure = (): void => {
      if (place.clientWidth > 0) setWidth(Math.max(least, place.clientWidth));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(place);
    return () => observer.disconnect();
  }, [least]);
  return [ref, width];
}
