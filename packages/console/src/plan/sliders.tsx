import type { JSX } from "preact";
import { percent, significant, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";
import { MOST_DEVICES, type Settings } from "./settings.ts";
import { Slider } from "./slider.tsx";
import { DEVICES, EPSILONS, MINIMUM_DEVICES, SHARES, SIGMAS, TICKS } from "./stops.ts";
import { type Draft, type DraftMetric, withNumber } from "./task-text.ts";

const inDevices = (value: number): string => `${whole(value)} devices`;

/** Everything that can be changed without typing. All but the number of devices are fields of the task file. */
export function Sliders({
  text,
  draft,
  devices,
  metric,
  change,
}: {
  text: string;
  /** Undefined if the text is not JSON. */
  draft: Draft | undefined;
  devices: number;
  metric: number;
  change: (changes: Partial<Settings>) => void;
}): JSX.Element {
  const set =
    (...path: readonly (string | number)[]) =>
    (value: number): void =>
      change({ text: withNumber(text, path, value) });
  const { ticks, tickSeconds, minimumDevices, missing = 0 } = draft ?? {};
  const isReleased = minimumDevices === undefined || devices >= minimumDevices;
  return (
    <section class="panel sliders" aria-label="Sliders">
      <h2>What you can change</h2>
      <Slider
        label="Devices"
        value={devices}
        stops={DEVICES}
        inWords={inDevices}
        disabled={false}
        onChange={(value) => {
          if (Number.isInteger(value) && value >= 1 && value <= MOST_DEVICES) change({ devices: value });
        }}
      >
        {isReleased
          ? "That report in a window. It is not in the file."
          : "Fewer than the minimum below: no window is ever released."}
      </Slider>
      <NoiseSlider metric={draft?.metrics[metric]} onChange={(field, value) => set("metrics", metric, field)(value)} />
      <Slider
        label="Minimum devices"
        value={minimumDevices}
        stops={MINIMUM_DEVICES}
        inWords={inDevices}
        disabled={!draft}
        onChange={set("minimumDevices")}
      >
        A window with fewer reports is not released, so privacy stands on this number.
      </Slider>
      <Slider
        label="Missing share"
        value={draft ? missing : undefined}
        stops={SHARES}
        inWords={(value) => percent(value, 0)}
        disabled={!draft}
        onChange={set("missing")}
      >
        {`Up to ${percent(missing, 0)} of the minimum may be dishonest: privacy stands on the others.`}
      </Slider>
      <Slider
        label="Ticks of a window"
        value={ticks}
        stops={TICKS}
        inWords={(value) => `${whole(value)} ticks`}
        disabled={!draft}
        onChange={set("ticks")}
      >
        {ticks !== undefined && tickSeconds !== undefined
          ? `Of ${duration(tickSeconds)} each: a window lasts ${duration(ticks * tickSeconds)}.`
          : "A device writes at every tick, whatever happens."}
      </Slider>
      <p class="note" aria-live="polite">
        {draft ? "" : "The file is not JSON: correct it, and the sliders work again."}
      </p>
    </section>
  );
}

/** The noise of one metric: an ε₀ or a σ, whichever its file states. */
function NoiseSlider({
  metric,
  onChange,
}: {
  metric: DraftMetric | undefined;
  onChange: (field: DraftMetric["noise"], value: number) => void;
}): JSX.Element {
  const { name = "a metric", noise = "localEpsilon", noiseValue } = metric ?? {};
  const isSigma = noise === "sigma";
  return (
    <Slider
      label={isSigma ? "Noise σ of an answer" : "ε₀ of an answer"}
      value={noiseValue}
      stops={isSigma ? SIGMAS : EPSILONS}
      inWords={(value) => `${isSigma ? "σ" : "ε₀"} = ${significant(value)}`}
      disabled={!metric}
      onChange={(value) => onChange(noise, value)}
    >
      {`Of ${name}. ${isSigma ? "Larger" : "Smaller"} is more private, and less exact.`}
    </Slider>
  );
}
