import type { JSX } from "preact";
import { CurvePlot } from "../chart/curve-plot.tsx";
import { type Cell, Figure } from "../chart/figure.tsx";
import { IntervalPlot } from "../chart/interval-plot.tsx";
import { decimal, percent, significant, whole } from "../format/number.ts";
import type { CurvePoint, Picture } from "../planner/draft-jobs.ts";

/** How exact one metric will be: in a sentence, as curves, and as a sample of what a reader would see. */
export function MetricPicture({ picture, onDraw }: { picture: Picture; onDraw: () => void }): JSX.Element {
  return (
    <>
      <Exactness picture={picture} />
      <div class="pair">
        <ByEpsilon picture={picture} />
        <ByDevices picture={picture} />
      </div>
      <Sample picture={picture} onDraw={onDraw} />
    </>
  );
}

/** A figure of a metric with its unit: "292 devices", "0.039". */
export function inUnit(value: number, { unit, isAverage }: Pick<Picture, "unit" | "isAverage">): string {
  const figure = isAverage ? significant(value) : whole(value);
  return unit === "" ? figure : `${figure} ${unit}`;
}

function Exactness({ picture }: { picture: Picture }): JSX.Element {
  const { standardError, detectable, figure, isAverage, devices } = picture;
  return (
    <div class="grid">
      <div class="panel card">
        <h3>Standard error</h3>
        <p class="headline" data-value={String(standardError)}>
          ± {isAverage ? significant(standardError) : decimal(standardError, standardError < 100 ? 1 : 0)}
        </p>
        <p>Of {figure}, if all devices report: two out of three windows are off by less.</p>
      </div>
      <div class="panel card">
        <h3>Smallest visible change</h3>
        <p class="headline" data-value={String(detectable)}>
          {inUnit(detectable, picture)}
        </p>
        <p>
          The smallest true figure whose 95% interval is expected to leave out zero.
          {!isAverage && ` It is ${percent(detectable / devices)} of the devices.`}
        </p>
      </div>
    </div>
  );
}

interface Row extends CurvePoint {
  readonly isChosen: boolean;
}

/** The points of a curve in their order, and among them the chosen one. */
function rowsOf(points: readonly CurvePoint[], chosen: CurvePoint): readonly Row[] {
  const others = points.filter(({ at }) => at !== chosen.at).map((point) => ({ ...point, isChosen: false }));
  return [...others, { ...chosen, isChosen: true }].toSorted((a, b) => a.at - b.at);
}

const nameOf = (name: string, { isChosen }: Row): string => (isChosen ? `${name}, as chosen` : name);

function ByEpsilon({ picture }: { picture: Picture }): JSX.Element {
  const { name, byEpsilon, localEpsilon, standardError, figure, unit } = picture;
  const rows = rowsOf(byEpsilon, { at: localEpsilon, standardError });
  return (
    <Figure
      title="Error by ε₀"
      note={`Standard error of ${figure}${unit && `, in ${unit}`}, at other ε₀ of an answer. The point is yours.`}
      fileName={`${name}-by-epsilon`}
      table={{
        columns: ["ε₀", "standard error"],
        rows: rows.map((row) => [nameOf(significant(row.at), row), errorCell(row.standardError)]),
      }}
    >
      <CurvePlot
        points={byEpsilon.map(toPlotted)}
        chosen={toPlotted({ at: localEpsilon, standardError })}
        formatAt={significant}
        formatValue={significant}
      />
    </Figure>
  );
}

/** Counts are drawn as shares of the devices: their errors grow with the fleet, and yet say more about it. */
function ByDevices({ picture }: { picture: Picture }): JSX.Element {
  const { name, byDevices, devices, standardError, figure, isAverage } = picture;
  const rows = rowsOf(byDevices, { at: devices, standardError });
  const shown = (point: CurvePoint): CurvePoint =>
    isAverage ? point : { ...point, standardError: point.standardError / point.at };
  const shareOf = (row: Row): Cell[] => {
    const { standardError: share } = shown(row);
    return isAverage ? [] : [{ text: percent(share, 2), value: share }];
  };
  return (
    <Figure
      title="Error by devices"
      note={`Standard error of ${figure}${isAverage ? "" : ", as a share of the devices"}, with more or fewer devices.`}
      fileName={`${name}-by-devices`}
      table={{
        columns: ["devices", "standard error", ...(isAverage ? [] : ["share of the devices"])],
        rows: rows.map((row) => [nameOf(whole(row.at), row), errorCell(row.standardError), ...shareOf(row)]),
      }}
    >
      <CurvePlot
        points={byDevices.map(shown).map(toPlotted)}
        chosen={toPlotted(shown({ at: devices, standardError }))}
        formatAt={compact}
        formatValue={isAverage ? significant : shareText}
      />
    </Figure>
  );
}

function errorCell(standardError: number): Cell {
  return { text: `± ${significant(standardError)}`, value: standardError };
}

function toPlotted({ at, standardError }: CurvePoint): { at: number; value: number } {
  return { at, value: standardError };
}

/** With one digit at least: 10%, 1%, 0.1%. */
function shareText(share: number): string {
  return percent(share, Math.max(0, -Math.floor(Math.log10(100 * share) + 1e-9)));
}

function compact(value: number): string {
  return new Intl.NumberFormat(navigator.language, { notation: "compact" }).format(value);
}

function Sample({ picture, onDraw }: { picture: Picture; onDraw: () => void }): JSX.Element {
  const { name, sample, detect, decimals, isAverage } = picture;
  const half = sample.findIndex(({ truth }) => truth > 0) + 1;
  const digits = isAverage ? decimals : 0;
  const cell = (value: number): Cell => ({ text: decimal(value, digits), value });
  return (
    <Figure
      title={`How ${whole(sample.length)} windows could look`}
      note={`Simulated: from window ${half} on, the true figure is ${inUnit(detect, picture)}, before that zero. A point is what a release could state, with its 95% interval; a bar is the truth.`}
      fileName={`${name}-sample`}
      table={{
        columns: ["window", "truth", "estimate", "95% from", "to"],
        rows: sample.map(({ truth, estimate, interval: [low, high] }, i) => [
          whole(i + 1),
          ...[truth, estimate, low, high].map(cell),
        ]),
      }}
      below={
        <div class="actions">
          <button type="button" class="quiet" onClick={onDraw}>
            Draw again
          </button>
        </div>
      }
    >
      <IntervalPlot
        points={sample.map(({ truth, estimate, interval }, i) => ({
          ...{ name: whole(i + 1), value: estimate, interval, truth },
        }))}
        format={(value) => (isAverage ? significant(value) : whole(value))}
      />
    </Figure>
  );
}
