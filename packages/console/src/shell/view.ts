import type { ServiceInfo } from "@lethe/core/message";
import type { FunctionComponent } from "preact";
import type { Route } from "./route.ts";

/** What every view gets. */
export interface ViewProps {
  readonly service: ServiceInfo;
  /** By how many seconds the service's clock is ahead of the reader's. */
  readonly clockAhead: number;
  /** The address of the service, without a slash at its end: that of this page. */
  readonly server: string;
  readonly route: Route;
  /** The admin token of this tab, if one was entered. */
  readonly token: string | undefined;
  /** Asks the service again what it says about itself. */
  readonly again: () => void;
}

/** A view: what is below the navigation. */
export type View = FunctionComponent<ViewProps>;
