import { expect, it } from "vitest";
import { huntByMutation } from "../test/fuzz/contest.ts";
import { RARE_BUGS } from "../test/fuzz/planted.ts";

const MOST = 300_000;

it.each(RARE_BUGS)("a planted bug that few inputs reach is found: %s", async (bug) => {
  const { inputs } = await huntByMutation(bug, MOST, 1);
  expect(inputs).toBeLessThan(MOST);
});
