import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";

/** The view `results`. */
export function Results({ service }: ViewProps): JSX.Element {
  return <Empty title={`Results of a ${service.role}`} />;
}
