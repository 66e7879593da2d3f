import type { JSX } from "preact";
import { epsilonText, significant } from "../format/number.ts";
import type { Picture, Priced } from "../planner/draft-jobs.ts";
import { inUnit } from "./metric-picture.tsx";

/** The figures that sliders change, always in sight of them; the sections below explain each. */
export function Summary({ picture, price }: { picture: Picture | undefined; price: Priced | undefined }): JSX.Element {
  const { local, aggregate, hijackedEpsilon } = price?.plan.perWindow ?? {};
  const figures = [
    ["Standard error", picture && `± ${significant(picture.standardError)}`],
    ["Smallest visible", picture && inUnit(picture.detectable, { ...picture, unit: "" })],
    ["Local ε", local && epsilonText(local.epsilon)],
    ["Aggregate ε", aggregate && epsilonText(aggregate.epsilon)],
    ["Hijacked ε", hijackedEpsilon !== undefined && epsilonText(hijackedEpsilon)],
  ] as const;
  return (
    <dl class="in-sight">
      {figures.map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text || "…"}</dd>
        </div>
      ))}
    </dl>
  );
}
