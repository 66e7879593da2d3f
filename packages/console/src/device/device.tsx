import type { JSX } from "preact";
import { Empty } from "../shell/states.tsx";
import type { ViewProps } from "../shell/view.ts";

/** The view `device`. */
export function Device({ service }: ViewProps): JSX.Element {
  return <Empty title={`Device of a ${service.role}`} />;
}
