import type { WindowStatus } from "@lethe/core/message";
import type { JSX } from "preact";
import { whole } from "../format/number.ts";
import { dateAndTime } from "../format/time.ts";
import type { Live } from "./live.ts";
import "./demonstration.css";

/**
 * The running window of a demonstration: what happens on the devices, which only the demonstration knows, beside what
 * the service knows. Its height does not depend on how far the window is.
 */
export function LiveStrip({ live }: { live: Live | "loading" }): JSX.Element {
  const { demonstration, service, hasEnded = false }: Partial<Live> = live === "loading" ? {} : live;
  const { running, ticks = 1, devices = 0 } = demonstration ?? {};
  return (
    <section class="live" aria-label="The running window">
      <header>
        <h2>
          {service ? `Running until ${dateAndTime(service.to, service.to - service.from)}` : "The demonstration begins"}
        </h2>
        <progress max={ticks} value={running?.tick ?? 0} aria-label="Ticks of the window that are over" />
        <p>{hasEnded ? "The demonstration has ended." : running && `tick ${running.tick} of ${ticks}`}</p>
      </header>
      <div>
        <h3 class="truth">What really happens</h3>
        <p class="muted">Events on {whole(devices)} devices, known to this demonstration only.</p>
        <dl>
          {Object.entries(running?.events ?? {}).map(([event, count]) => (
            <div key={event}>
              <dt>{event}</dt>
              <dd data-value={count}>{whole(count)}</dd>
            </div>
          ))}
        </dl>
      </div>
      <div>
        <h3>What the service knows</h3>
        <p class="muted">{whatItLearns(service ?? {})}</p>
        <dl>
          <div>
            <dt>devices enrolled</dt>
            <dd data-value={service?.enrolled}>{whole(service?.enrolled ?? 0)}</dd>
          </div>
          <div>
            <dt>reports</dt>
            <dd data-value={service?.received}>{whole(service?.received ?? 0)}</dd>
          </div>
        </dl>
      </div>
    </section>
  );
}

/** One short sentence, so that the strip keeps its height. */
function whatItLearns({ state, received }: Partial<WindowStatus>): string {
  if (state === "released") return "It has published sums with noise: see below.";
  if (!received) return "It has no report yet, and knows of no event.";
  return "It has reports, and will publish sums with noise.";
}
