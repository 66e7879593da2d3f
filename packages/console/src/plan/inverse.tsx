import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { significant, whole } from "../format/number.ts";
import type { Picture } from "../planner/draft-jobs.ts";
import { inUnit } from "./metric-picture.tsx";
import type { Settings } from "./settings.ts";
import { type DraftMetric, withNumber } from "./task-text.ts";

/** What it takes to see something: a larger ε₀, or more devices. */
export function Inverse({
  picture,
  detect,
  text,
  metric,
  draft,
  change,
}: {
  picture: Picture;
  /** Undefined for the smallest change that is visible. */
  detect: number | undefined;
  text: string;
  metric: number;
  draft: DraftMetric | undefined;
  change: (changes: Partial<Settings>) => void;
}): JSX.Element {
  const id = useId();
  const { devices, isAverage, detectable } = picture;
  return (
    <section class="panel inverse" aria-label="What it takes to see a change">
      <h3>What does it take to see a change?</h3>
      <p>
        <label for={id}>{isAverage ? "I must see a mean of" : "I must see"}</label>{" "}
        <input
          id={id}
          type="number"
          min={0}
          step="any"
          value={detect ?? ""}
          placeholder={String(Number(detectable.toPrecision(3)))}
          onInput={({ currentTarget: { valueAsNumber: asked } }) =>
            change({ detect: Number.isFinite(asked) && asked > 0 ? asked : undefined })
          }
        />{" "}
        {!isAverage && `of ${whole(devices)} devices`}
      </p>
      <ul>
        <li>
          <ByNoise {...{ picture, text, metric, draft, change }} />
        </li>
        <li>
          <ByFleet picture={picture} change={change} />
        </li>
      </ul>
    </section>
  );
}

function ByNoise({
  picture,
  text,
  metric,
  draft,
  change,
}: {
  picture: Picture;
  text: string;
  metric: number;
  draft: DraftMetric | undefined;
  change: (changes: Partial<Settings>) => void;
}): JSX.Element {
  const { epsilonToDetect: found, devices, detect } = picture;
  if ("problem" in found) return <span>No ε₀ shows it: {found.problem}.</span>;
  const { localEpsilon, sigma } = found;
  const isSigma = draft?.noise === "sigma" && sigma !== undefined;
  // Less noise shows it as well; more may not.
  const value = isSigma ? roundedDown(sigma) : localEpsilon;
  return (
    <>
      <span>
        With the same {whole(devices)} devices, {inUnit(detect, picture)} are visible from ε₀ ={" "}
        <b data-value={String(localEpsilon)}>{significant(localEpsilon, 4)}</b> on
        {isSigma && `, which is σ = ${significant(value, 4)}`}.
      </span>{" "}
      <button
        type="button"
        class="quiet"
        disabled={!draft}
        onClick={() => draft && change({ text: withNumber(text, ["metrics", metric, draft.noise], value) })}
      >
        Use this {isSigma ? "σ" : "ε₀"}
      </button>
    </>
  );
}

function ByFleet({ picture, change }: { picture: Picture; change: (changes: Partial<Settings>) => void }): JSX.Element {
  const { devicesToDetect: found, devices, detect, isAverage, localEpsilon } = picture;
  if ("problem" in found) return <span>No number of devices shows it: {found.problem}.</span>;
  const same = isAverage ? detect : Math.ceil((detect / devices) * found.devices);
  return (
    <>
      <span>
        With the same ε₀ = {significant(localEpsilon)}, it takes{" "}
        <b data-value={String(found.devices)}>{whole(found.devices)}</b> devices
        {!isAverage && `, to see the same share: ${whole(same)} of them`}.
      </span>{" "}
      <button type="button" class="quiet" onClick={() => change({ devices: found.devices, detect: same })}>
        Use this number of devices
      </button>
    </>
  );
}

/** To four digits. */
function roundedDown(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  return Number((Math.floor(value / unit + 1e-9) * unit).toPrecision(4));
}
