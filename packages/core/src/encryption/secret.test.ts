import { inspect } from "node:util";
import { expect, it } from "vitest";
import { seededRandomnessForTests } from "../randomness/index.ts";
import { elgamalGroup } from "./elgamal/elgamal.ts";
import { createLattice } from "./lattice/lattice.ts";
import { LATTICE_SETS } from "./lattice/parameters.ts";
import { secret } from "./secret.ts";

it("a secret shows as [secret] however it is printed", () => {
  const hidden = secret("swordfish");
  const shown = [String(hidden), `${hidden}`, JSON.stringify({ hidden }), inspect({ hidden }), inspect(hidden)];
  const thorough = inspect({ hidden }, { showHidden: true, customInspect: false, depth: 9 });
  for (const text of shown) expect(text).toContain("[secret]");
  for (const text of [...shown, thorough, Object.entries(hidden).join()]) expect(text).not.toContain("swordfish");
  expect(hidden.reveal()).toBe("swordfish");
});

it("secret keys of both schemes print as [secret]", () => {
  const random = seededRandomnessForTests("secret keys");
  for (const scheme of [elgamalGroup, createLattice(LATTICE_SETS[0], 4)]) {
    expect(inspect(scheme.generateSecretKey(random))).toBe("[secret]");
  }
});
