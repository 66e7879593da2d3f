/** A system whose states are lists of small numbers, and what happens in each: a name, and the state afterwards. */
export interface Model {
  readonly start: readonly number[];
  next(state: readonly number[]): Iterable<readonly [name: string, state: readonly number[]]>;
  /** What is wrong in a state; undefined if nothing is. */
  wrong(state: readonly number[]): string | undefined;
  /** What must be possible from every state, however long it takes. */
  isGoal(state: readonly number[]): boolean;
}

/** How many states there are, or what is wrong and the steps that lead there. */
export type Explored =
  | { readonly states: number; readonly goals: number; readonly wrong?: undefined }
  | { readonly states: number; readonly wrong: string; readonly steps: readonly string[] };

/**
 * Visits every state that can be reached, in every order of the steps. Finds the shortest way to a state in which
 * something is wrong, or from which no goal can be reached any more.
 */
export function explore(model: Model, most = 5_000_000): Explored {
  const numbers = new Map<string, number>();
  const states: (readonly number[])[] = [];
  const reachedFrom: number[] = [];
  const reachedBy: string[] = [];
  const before: number[][] = [];
  const numberOf = (state: readonly number[], from: number, by: string): number => {
    const key = String.fromCharCode(...state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, states.length);
    reachedFrom.push(from);
    reachedBy.push(by);
    before.push([]);
    return states.push(state) - 1;
  };
  const stepsTo = (state: number): string[] => {
    const steps: string[] = [];
    for (let at = state; at > 0; at = reachedFrom[at] as number) steps.push(reachedBy[at] as string);
    return steps.reverse();
  };

  numberOf(model.start, 0, "");
  const reaching: number[] = [];
  for (let at = 0; at < states.length; at++) {
    if (states.length > most) throw new RangeError(`there are more than ${most} states`);
    const state = states[at] as readonly number[];
    const wrong = model.wrong(state);
    if (wrong !== undefined) return { states: states.length, wrong, steps: stepsTo(at) };
    if (model.isGoal(state)) reaching.push(at);
    for (const [name, next] of model.next(state)) before[numberOf(next, at, name)]?.push(at);
  }
  const goals = reaching.length;
  const canReach = new Uint8Array(states.length);
  for (const goal of reaching) canReach[goal] = 1;
  for (let at = reaching.pop(); at !== undefined; at = reaching.pop()) {
    for (const earlier of before[at] ?? []) {
      if (canReach[earlier]) continue;
      canReach[earlier] = 1;
      reaching.push(earlier);
    }
  }
  const stuck = canReach.indexOf(0);
  if (stuck < 0) return { states: states.length, goals };
  return { states: states.length, wrong: "the window can never end", steps: stepsTo(stuck) };
}
