import { expect, it } from "vitest";
import { alternativeText } from "./sentences.ts";

it("a change of the task is named", () => {
  const changes = [{ kind: "none" }, { kind: "longer", times: 2 }, { kind: "without", metric: "clicks" }] as const;
  expect(changes.map((change) => alternativeText({ change }))).toEqual([
    ...["As it is", "Windows 2 times as long", "Without clicks"],
  ]);
});
