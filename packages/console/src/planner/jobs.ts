/**
 * The jobs of the planner's worker, which all call core's planner. `draft-jobs.ts` is about task files that somebody
 * writes, for the view `plan`; `task-jobs.ts` about tasks of a service, for the view `privacy`. `client.ts` runs these
 * jobs in a worker, which is loaded when the first is asked for; `use-planned.ts` is for views. May import no other
 * folder of the console.
 */
import { check, picture, price, templates } from "./draft-jobs.ts";
import { alternatives, budget, periodCosts, windowCost } from "./task-jobs.ts";

/** Everything that the worker can be asked for. */
export interface Jobs {
  readonly templates: typeof templates;
  readonly check: typeof check;
  readonly picture: typeof picture;
  readonly price: typeof price;
  readonly windowCost: typeof windowCost;
  readonly periodCosts: typeof periodCosts;
  readonly alternatives: typeof alternatives;
  readonly budget: typeof budget;
}

/** The jobs by their names. */
export const JOBS: Jobs = { templates, check, picture, price, windowCost, periodCosts, alternatives, budget };
