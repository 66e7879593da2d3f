import { provideEveryPart } from "@lethe/core/device/all";
import { charge } from "./budget/budget.ts";
import { budgetPart } from "./budget/load.ts";
import { openLethe as openOnDemand } from "./index.ts";

/**
 * The same as `@lethe/device`, with every scheme in one file: for service workers, which forbid `import()`, for browser
 * extensions and for script tags. `openLethe` fills the table of parts, and not this module as it loads: bundlers drop
 * such code from packages without side effects.
 */
export * from "./index.ts";

/** `openLethe` of `@lethe/device`, but it never loads anything on demand. */
export const openLethe: typeof openOnDemand = (options) => {
  provideEveryPart();
  budgetPart.load = async () => charge;
  return openOnDemand(options);
};
