import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";

/** The view `plan`. */
export function Plan({ service }: ViewProps): JSX.Element {
  return <Empty title={`Plan of a ${service.role}`} />;
}
