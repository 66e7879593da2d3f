import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";

/** The view `operations`. */
export function Operations({ service }: ViewProps): JSX.Element {
  return <Empty title={`Operations of a ${service.role}`} />;
}
