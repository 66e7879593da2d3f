import { download } from "./download.ts";

const SCALE = 2;
const STYLED = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "fill-opacity",
  "font-size",
  "font-family",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];

/** Saves the first SVG inside an element as a picture, with the colours that it has on the page. */
export async function downloadPng(plot: HTMLElement, fileName: string): Promise<void> {
  const svg = plot.querySelector("svg");
  if (!svg) return;
  const picture = await drawn(svg);
  const blob = await new Promise<Blob | null>((resolve) => picture.toBlob(resolve, "image/png"));
  if (blob) download(fileName, blob);
}

async function drawn(svg: SVGSVGElement): Promise<HTMLCanvasElement> {
  const { width, height } = svg.getBoundingClientRect();
  const copy = withStyles(svg);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SCALE * width, SCALE * height];
  const context = canvas.getContext("2d");
  if (context) {
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  }
  URL.revokeObjectURL(image.src);
  return canvas;
}

/** A copy that needs no style sheet. */
function withStyles(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of STYLED) to[i]?.setAttribute(name, style.getPropertyValue(name));
  });
  return copy;
}
