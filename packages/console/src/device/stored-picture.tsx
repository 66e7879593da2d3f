import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { pictureOf } from "./picture.ts";

/** Bytes as a picture, and in words for people who do not see it. Its place is a square, whatever it shows. */
export function StoredPicture({
  bytes,
  before,
  label,
}: {
  bytes: Uint8Array | undefined;
  before: Uint8Array | undefined;
  label: string;
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  // With the text around it, which is about the same bytes.
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const { columns, rows, pixels } = pictureOf(bytes ?? new Uint8Array(), before);
    // Setting the size clears the canvas.
    [context.canvas.width, context.canvas.height] = [columns, rows];
    context.putImageData(new ImageData(pixels, columns, rows), 0, 0);
  }, [bytes, before]);
  return <canvas class="bytes" ref={canvas} width={1} height={1} role="img" aria-label={label} />;
}
