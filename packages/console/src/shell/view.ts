import type { FunctionComponent } from "preact";
import type { Route } from "./route.ts";

/** What the service says about itself to everybody, at `/v1/console`. */
export interface ServiceInfo {
  readonly version: string;
  readonly role: "all" | "intake" | "tally" | "leader" | "helper";
  /** Unix seconds, by the clock of the service. */
  readonly now: number;
  readonly privateResults: boolean;
  /** Missing if results are private and no token was sent. */
  readonly tasks?: readonly string[];
  readonly operatorKey?: string;
  readonly hasDemonstration?: boolean;
}

/** What every view gets. */
export interface ViewProps {
  readonly service: ServiceInfo;
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
