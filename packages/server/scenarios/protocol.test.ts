import { expect, it } from "vitest";
import { explore } from "../test/explore.ts";
import { MISTAKES, type Mistake, type Setting, SMALLEST } from "../test/protocol-cells.ts";
import { protocolModel } from "../test/protocol-model.ts";

/** The longest ones are in `protocol.slow.test.ts`. */
const SETTINGS: readonly (readonly [name: string, setting: Partial<Setting>])[] = [
  ["one intake and one tally", {}],
  ["two reports in one database", { reports: [0, 0, 1] }],
  ["two intakes", { intakes: 2 }],
  ["two tallies", { tallies: 2 }],
  ["too few reports in one of the databases", { reports: [0, 1], minimumDevices: 2 }],
  ["a window that the operator gives up", { mayBeLost: true }],
  ["a commit that only the primary has, and standbys that take over", { cancelled: 1 }],
];

it.each(SETTINGS)(
  "nothing acknowledged is lost, nothing is counted twice, and the window can end: %s",
  (_, setting) => {
    const { wrong, states, ...found } = explore(protocolModel({ ...SMALLEST, ...setting }));
    expect({ wrong, ...found }).toEqual({ wrong: undefined, goals: expect.any(Number) });
    expect(states).toBeGreaterThan(1000);
  },
);

const MISTAKEN: Readonly<Record<Mistake, readonly [setting: Partial<Setting>, wrong: string]>> = {
  "closing does not wait for shards": [{ reports: [0, 0] }, "a report is acknowledged, and not in the release"],
  "a part is not awaited": [{}, "a report is acknowledged, and not in the release"],
  "an open part is read": [{}, "more reports are acknowledged than the number that is published"],
  "the state is not read again in the transaction that publishes": [{ tallies: 2 }, "there are two releases"],
  "a lost lease is not noticed": [{ tallies: 2 }, "a report is counted twice"],
  "a part is erased before the release": [{}, "the window can never end"],
  "a closed part is read before its standby has that": [
    { cancelled: 1 },
    "more reports are acknowledged than the number that is published",
  ],
  "the secret is destroyed before the standby has the release": [
    { cancelled: 1 },
    "the secret is destroyed, and the release may be lost",
  ],
  "a part is made before the standby has the window": [{ cancelled: 1 }, "the window can never end"],
};

it.each(MISTAKES)("the model finds what goes wrong if %s", (mistake) => {
  const [setting, wrong] = MISTAKEN[mistake];
  expect(explore(protocolModel({ ...SMALLEST, ...setting, mistake }))).toMatchObject({
    wrong,
    steps: expect.arrayContaining([expect.stringContaining("tally 0 ")]),
  });
});
