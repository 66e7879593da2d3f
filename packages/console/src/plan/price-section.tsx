import type { JSX } from "preact";
import { DataTable } from "../chart/figure.tsx";
import { decimal, epsilonText, significant, whole } from "../format/number.ts";
import type { Priced } from "../planner/draft-jobs.ts";
import { Budget, NoBudget } from "../price/budget.tsx";
import { ThreeFigures } from "../price/three-figures.tsx";

/** More metrics are not listed one by one. */
const MOST_LISTED = 30;

/** What the file costs a device per window, in privacy and in bytes, and how wrong each figure will be. */
export function PriceSection({
  price,
  isOld,
  failure,
}: {
  price: Priced | undefined;
  isOld: boolean;
  failure: string | undefined;
}): JSX.Element {
  return (
    <section class="price" aria-label="What a window costs a device" aria-busy={isOld}>
      <h2>
        What a window costs a device <Busy isOld={isOld} />
      </h2>
      {failure !== undefined && <p role="alert">{failure}</p>}
      <div class="price-body">{price && <Prices {...price} />}</div>
    </section>
  );
}

/** Says that figures are those of the file before. It takes its room all the time, so that nothing jumps. */
export function Busy({ isOld }: { isOld: boolean }): JSX.Element {
  return <span class={isOld ? "busy" : "busy idle"}>{isOld ? "computing …" : ""}</span>;
}

function Prices({ task, plan, budget }: Priced): JSX.Element {
  const { metrics, stateBytes, reportBytes } = plan;
  return (
    <>
      <ThreeFigures task={task} plan={plan} />
      <div class="panel">
        <h3>How wrong figures will be</h3>
        <p class="note">
          With {whole(plan.devices)} devices{task.groups && " in a group"}, all of which report.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
        <section class="scroll" aria-label="All metrics, as a table" tabIndex={0}>
          <DataTable
            caption="The error and the price of every metric"
            columns={["metric", "standard error", "smallest visible", "local ε"]}
            rows={metrics
              .slice(0, MOST_LISTED)
              .map(({ name, standardError, detectable, localEpsilon }) => [
                name,
                { text: `± ${significant(standardError)}`, value: standardError },
                { text: significant(detectable), value: detectable },
                { text: epsilonText(localEpsilon), value: localEpsilon },
              ])}
          />
        </section>
        {metrics.length > MOST_LISTED && <p class="note">And {whole(metrics.length - MOST_LISTED)} more metrics.</p>}
        <p class="note">
          A device stores {decimal(stateBytes, 0)} bytes, and sends {decimal(reportBytes, 0)} bytes per window.
        </p>
      </div>
      <div class="panel">{budget ? <Budget plan={budget} /> : <NoBudget />}</div>
    </>
  );
}
