/**
 * What the views draw with: scales, plots in plain SVG, the table behind every plot, and pictures of plots as files.
 * Colours come from the style sheet, so plots follow the theme. May import `format`. Start reading here.
 */
import type { ComponentChildren, JSX } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { downloadPng } from "./png.ts";

/** The table behind a plot: the same figures for screen readers, and for people who want to read numbers. */
export interface TableData {
  readonly columns: readonly string[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Cell[])[];
}

/** What a table shows in a cell; with the number that was rounded to it, for programs that read the page. */
export type Cell = string | { readonly text: string; readonly value: number };

/** A plot with its caption, a table of the same figures, and a button that saves it as a picture. */
export function Figure({
  title,
  note,
  options,
  below,
  table,
  fileName,
  children,
}: {
  title: string;
  note?: ComponentChildren;
  /** What the reader can choose about this plot alone. */
  options?: ComponentChildren;
  /** What follows from the plot, in words. */
  below?: ComponentChildren;
  table: TableData;
  fileName: string;
  children: ComponentChildren;
}): JSX.Element {
  const id = useId();
  const plot = useRef<HTMLDivElement>(null);
  const [isTable, setTable] = useState(false);
  return (
    <figure class="figure" aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        {note !== undefined && <p class="note">{note}</p>}
      </figcaption>
      {options}
      <div class={isTable ? "plot hidden" : "plot"} ref={plot} aria-hidden="true">
        {children}
      </div>
      <div class={isTable ? "scroll" : "visually-hidden"}>
        <DataTable caption={title} {...table} />
      </div>
      {below}
      <div class="actions">
        <button type="button" class="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? "Show the plot" : "Show the table"}
        </button>
        <button
          type="button"
          class="quiet"
          disabled={isTable}
          onClick={() => plot.current && void downloadPng(plot.current, `${fileName}.png`)}
        >
          Save as PNG
        </button>
      </div>
    </figure>
  );
}

/** A table with headings for its columns and rows. */
export function DataTable({ caption, columns, rows }: TableData & { caption: string }): JSX.Element {
  return (
    <table>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map((cell, j) =>
              j === 0 ? (
                <th scope="row" key={columns[j]}>
                  {textOf(cell)}
                </th>
              ) : (
                <td key={columns[j]} data-value={typeof cell === "string" ? undefined : String(cell.value)}>
                  {textOf(cell)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}
