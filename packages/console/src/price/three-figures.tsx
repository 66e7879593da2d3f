/**
 * What a task costs a device, in figures and in words, for the views `privacy` and `plan`. May import `format`, and types
 * of core. Start reading here; `sentences.ts` says what an ε means, `budget.tsx` how far a budget goes.
 */
import type { Task } from "@lethe/core/message";
import type { TaskPlan } from "@lethe/core/plan";
import type { JSX } from "preact";
import { epsilonText, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";
import { aggregateSentence, hijackedSentence, localSentence } from "./sentences.ts";
import "./price.css";

/** The local, the aggregate and the hijacked ε of one window, with one sentence each. */
export function ThreeFigures({ task, plan }: { task: Task; plan: TaskPlan }): JSX.Element {
  const { local, aggregate, hijackedEpsilon } = plan.perWindow;
  const cards = [
    ["Local", local.epsilon, localSentence(local.epsilon, task.mode === "two-server")],
    ["Aggregate", aggregate.epsilon, aggregateSentence(aggregate.epsilon, whole(plan.reporting))],
    ["Hijacked report", hijackedEpsilon, hijackedSentence(hijackedEpsilon)],
  ] as const;
  const { length } = task.metrics;
  return (
    <>
      <p class="muted">
        A window lasts {duration(task.ticks * task.tickSeconds)}. All figures hold with δ = 10⁻⁶, are those of{" "}
        {length === 1 ? "its only metric" : `all ${whole(length)} metrics together`}, and are rounded up. Smaller is
        more private.
      </p>
      <div class="grid">
        {cards.map(([title, epsilon, sentence]) => (
          <div key={title} class="panel card">
            <h3>{title}</h3>
            <p class="headline" data-value={String(epsilon)}>
              {Number.isFinite(epsilon) ? "ε = " : ""}
              {epsilonText(epsilon)}
            </p>
            <p>{sentence}</p>
          </div>
        ))}
      </div>
    </>
  );
}
