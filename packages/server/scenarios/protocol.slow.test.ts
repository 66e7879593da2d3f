import { expect, it } from "vitest";
import { explore } from "../test/explore.ts";
import { type Setting, SMALLEST } from "../test/protocol-cells.ts";
import { protocolModel } from "../test/protocol-model.ts";

const SETTINGS: readonly Partial<Setting>[] = [
  { intakes: 2, tallies: 2 },
  { tallies: 2, mayBeLost: true },
  { tallies: 2, reports: [0, 0, 1] },
  { intakes: 2, reports: [0, 0, 1], minimumDevices: 2 },
  { tallies: 2, cancelled: 1 },
  { intakes: 2, cancelled: 2 },
];

it.each(SETTINGS)("nothing acknowledged is lost, nothing is counted twice, and the window can end: %j", (setting) => {
  const { wrong, states, ...found } = explore(protocolModel({ ...SMALLEST, ...setting }));
  console.log(JSON.stringify({ setting, states, ...found }));
  expect(wrong).toBeUndefined();
});
