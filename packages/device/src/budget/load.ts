import { notLoaded } from "@lethe/core/device";
import type { charge } from "./budget.ts";

/**
 * Where the SDK finds what keeps a device within a budget: a separate file, imported when a report of a task with a
 * budget is first sent. `all.ts` puts in what is loaded already.
 */
export const budgetPart: { load: () => Promise<typeof charge> } = {
  load: () => import("./budget.ts").then(({ charge }) => charge, notLoaded),
};
