import {
  type Arbitrary,
  array,
  asyncProperty,
  check,
  constantFrom,
  integer,
  json,
  oneof,
  record,
  tuple,
  uint8Array,
} from "fast-check";
import { chooseForTests } from "./choose.ts";
import { tryInput } from "./judge.ts";
import { type Bug, plantedTarget } from "./planted.ts";
import { inputOf, type Target } from "./target.ts";

/** After how many inputs a contender found a bug, and after how many seconds; undefined if it did not. */
export interface Found {
  readonly inputs: number | undefined;
  readonly seconds: number;
}

const isWrong = async (target: Target, input: Uint8Array): Promise<boolean> =>
  typeof (await tryInput(target, input)) !== "string";

/** Our own mutations. */
export async function huntByMutation(bug: Bug, most: number, seed: number): Promise<Found> {
  const target = plantedTarget(bug, true);
  const started = performance.now();
  const since = (): number => (performance.now() - started) / 1000;
  for (let i = 0; i < most; i++) {
    if (await isWrong(target, inputOf(target, chooseForTests(seed, i)))) return { inputs: i + 1, seconds: since() };
  }
  return { inputs: undefined, seconds: since() };
}

/** What fast-check makes of the same examples: edits at arbitrary places, arbitrary bytes, and arbitrary JSON. */
function inputs({ examples, kind }: Target): Arbitrary<Uint8Array> {
  const edit = record({
    at: integer({ min: 0, max: 200 }),
    removed: integer({ min: 0, max: 8 }),
    inserted: uint8Array({ maxLength: 8 }),
  });
  const edited = tuple(constantFrom(...examples), array(edit, { minLength: 1, maxLength: 4 })).map(([example, edits]) =>
    edits.reduce(
      (bytes, { at, removed, inserted }) =>
        new Uint8Array(Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)])),
      example,
    ),
  );
  const text = json({ maxDepth: 4 }).map((value) => new Uint8Array(Buffer.from(value)));
  return kind === "json" ? oneof(edited, edited, text) : oneof(edited, edited, edited, uint8Array({ maxLength: 300 }));
}

/** fast-check. */
export async function huntByFastCheck(bug: Bug, most: number, seed: number): Promise<Found> {
  const target = plantedTarget(bug, true);
  const started = performance.now();
  const holds = asyncProperty(inputs(target), async (input) => !(await isWrong(target, input)));
  const { failed, numRuns } = await check(holds, { numRuns: most, seed, endOnFailure: true });
  return { inputs: failed ? numRuns : undefined, seconds: (performance.now() - started) / 1000 };
}
