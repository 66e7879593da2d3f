import { ANY, type CrossTable } from "@lethe/analyst";
import type { Figure } from "@lethe/core/message";
import type { Values } from "./choices.ts";
import { shownValue } from "./figures.ts";

/** A cell of a heat map. */
interface HeatCell {
  readonly row: string;
  readonly column: string;
  readonly figure: Figure;
  readonly value: number;
  /** From 0 for no devices (or fewer: noise can be negative) to 1 for the most of all cells. */
  readonly heat: number;
}

/** A table of pairs, ready to draw. */
export interface HeatMap {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly HeatCell[];
  /** The sums of rows and of columns, in their order; they have no heat, because they would outshine all cells. */
  readonly rowSums: readonly (number | undefined)[];
  readonly columnSums: readonly (number | undefined)[];
  /** What the hottest cell has: the end of the colour scale. */
  readonly most: number;
}

/** Colours and sums of a table of pairs. */
export function heatMapOf(table: CrossTable, values: Values): HeatMap {
  const { rows, columns } = table;
  const found = rows.flatMap((row) =>
    columns.flatMap((column) => {
      const figure = table.figureAt(row, column);
      return figure ? [{ row, column, figure, value: shownValue(figure, values) }] : [];
    }),
  );
  const most = Math.max(0, ...found.map(({ value }) => value));
  const sumAt = (row: string, column: string): number | undefined => {
    const figure = table.figureAt(row, column);
    return figure && shownValue(figure, values);
  };
  return {
    rows,
    columns,
    cells: found.map((cell) => ({ ...cell, heat: most > 0 ? Math.max(0, cell.value) / most : 0 })),
    rowSums: rows.map((row) => sumAt(row, ANY)),
    columnSums: columns.map((column) => sumAt(ANY, column)),
    most,
  };
}
