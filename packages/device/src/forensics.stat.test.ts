import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../server/test/service.ts";
import { examineFiles } from "../test/forensics-files.ts";

/** Of each kind. */
const RUNS = 30;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ keysAhead: 2 * RUNS + 10 });
});
afterAll(() => service.remove());

describe("the folder of a program, with every version of its record", () => {
  it("does not show whether there were events", async () => {
    const { figures, tells } = await examineFiles(service, RUNS);
    console.log(JSON.stringify(figures));
    expect(tells).toEqual([]);
  });

  it("would tell, if events caused writes", async () => {
    const { tells } = await examineFiles(service, 2, { fault: "writes on events" });
    expect(tells).toEqual(["number or sizes of versions"]);
  });

  it("would tell, if names were stored", async () => {
    const { tells } = await examineFiles(service, 2, { fault: "keeps names" });
    expect(tells).toEqual(["clear text"]);
  });

  it("would tell, if a tick without events wrote what was there before", async () => {
    const { figures, tells } = await examineFiles(service, 16, { fault: "writes again only after events" });
    console.log(JSON.stringify(figures));
    expect(tells).toContain("equal versions, records");
    expect(tells).toContain("equal bits, ciphertexts");
    expect(tells).toContain("compressed together, ciphertexts");
    expect(tells).not.toContain("number or sizes of versions");
  });
});

describe("the same for ElGamal", () => {
  /** The least number of runs of each kind that can be told apart with certainty. */
  const FEW = 16;

  it("does not show whether there were events", async () => {
    const { figures, tells } = await examineFiles(service, FEW, { scheme: "elgamal" });
    console.log(JSON.stringify(figures));
    expect(tells).toEqual([]);
  });

  it("would tell, if the state of an automaton were stored in clear", async () => {
    const { figures, tells } = await examineFiles(service, FEW, { fault: "keeps the state", scheme: "elgamal" });
    console.log(JSON.stringify(figures));
    expect(tells).toContain("equal bytes, records");
    expect(tells).not.toContain("number or sizes of versions");
    expect(tells).not.toContain("clear text");
  });

  it("would tell, if a tick without events wrote what was there before", async () => {
    const how = { fault: "writes again only after events", scheme: "elgamal" } as const;
    const { tells } = await examineFiles(service, FEW, how);
    expect(tells).toContain("equal versions, records");
    expect(tells).toContain("equal bits, ciphertexts");
    expect(tells).not.toContain("number or sizes of versions");
  });
});
