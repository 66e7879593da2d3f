/**
 * The view of plans: how exact a task will be and what it costs, before anybody creates it, and then to create it. Its
 * result is a task file, which sliders and typing change alike: the text is the only state, beside the number of devices
 * and what is to be seen (`settings.ts`, all of it in the address). `json-text.ts` and `task-text.ts` change the text
 * without a page. Everything is computed by core in the planner's worker. Start reading here.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { usePlanned } from "../planner/use-planned.ts";
import { Failure, Loading } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";
import { Create } from "./create.tsx";
import { Editor } from "./editor.tsx";
import { Inverse } from "./inverse.tsx";
import { MetricChoice } from "./metric-choice.tsx";
import { MetricPicture } from "./metric-picture.tsx";
import { Busy, PriceSection } from "./price-section.tsx";
import { Sliders } from "./sliders.tsx";
import { Start } from "./start.tsx";
import { Summary } from "./summary.tsx";
import { readDraft, templateText } from "./task-text.ts";
import { useSettings } from "./use-settings.ts";
import "./plan.css";

/** The view `plan`. */
export function Plan({ service, server, route, token, again: askAgain }: ViewProps): JSX.Element {
  const mode = service.role === "leader" || service.role === "helper" ? "two-server" : "one-server";
  const [settings, change] = useSettings(route);
  const [draw, setDraw] = useState(0);
  const [tries, setTries] = useState(0);
  const again = tries > 0 ? { tries } : {};
  const templates = usePlanned("templates", { mode, ...again });
  const [first] = templates.value ?? [];
  const text = settings.text ?? (first && templateText(first, mode));
  const draft = text === undefined ? undefined : readDraft(text);
  const { devices, detect } = settings;
  const metric = Math.max(0, Math.min(settings.metric, (draft?.metrics.length ?? 1) - 1));
  const checked = usePlanned("check", text === undefined ? undefined : { text, ...again });
  const pictured = usePlanned("picture", text === undefined ? undefined : { text, metric, devices, detect, draw });
  const priced = usePlanned("price", text === undefined ? undefined : { text, devices });
  const { value: verdict, isOld: isChecking } = checked;
  const found = verdict && "problem" in verdict && !isChecking ? verdict.problem : undefined;
  const problem = checked.failure?.message ?? found;
  const { value: picture } = pictured;
  const isDrawn = picture !== undefined || pictured.failure !== undefined || (verdict && "problem" in verdict);
  if (!templates.value || text === undefined || !verdict || !isDrawn) {
    const failure = templates.failure ?? checked.failure;
    return failure ? <Failure failure={failure} again={() => setTries(tries + 1)} /> : <Loading what="the planner" />;
  }
  const common = { text, draft, metric, change };
  return (
    <div class="plan">
      <h1>Plan a task</h1>
      <Start
        templates={templates.value}
        tasks={service.tasks ?? []}
        mode={mode}
        server={server}
        text={text}
        onStart={(next) => change({ text: next, metric: 0, detect: undefined })}
      />
      <Summary picture={picture} price={priced.value} />
      <div class="beside">
        <div>
          <MetricChoice {...common} templates={templates.value} />
          <Sliders {...common} devices={devices} />
        </div>
        <Editor
          text={text}
          task={draft?.task}
          problem={problem}
          isChecking={isChecking}
          onChange={(next) => change({ text: next })}
        />
      </div>
      <section aria-label="How exact it is" aria-busy={pictured.isOld} class="picture">
        <h2>
          How exact {picture?.name ?? "a metric"} is <Busy isOld={pictured.isOld} />
        </h2>
        {pictured.failure && <p role="alert">{pictured.failure.message}</p>}
        {picture && (
          <>
            <MetricPicture picture={picture} onDraw={() => setDraw(draw + 1)} />
            <Inverse {...common} picture={picture} detect={detect} draft={draft?.metrics[metric]} />
          </>
        )}
      </section>
      <PriceSection
        price={priced.value}
        isOld={priced.isOld || problem !== undefined}
        failure={priced.failure?.message}
      />
      <Create
        server={server}
        token={token}
        task={!isChecking && "task" in verdict ? verdict.task : undefined}
        onCreated={askAgain}
      />
    </div>
  );
}
