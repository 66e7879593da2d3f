import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";

/** The view `privacy`. */
export function Privacy({ service }: ViewProps): JSX.Element {
  return <Empty title={`Privacy of a ${service.role}`} />;
}
