import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../server/test/service.ts";
import { chromiumPath } from "../test/browser.ts";
import { examineChromium } from "../test/forensics-chromium.ts";

/** Of each kind. */
const RUNS = 16;

describe.skipIf(!chromiumPath)("the profile of a browser, with every version of the record in it", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.remove());

  it("does not show whether there were events", async () => {
    const { figures, tells } = await examineChromium(service, RUNS);
    console.log(JSON.stringify(figures));
    expect(tells).toEqual([]);
  });

  it("would tell, if events caused writes", async () => {
    const { tells } = await examineChromium(service, 2, "writes on events");
    expect(tells).toEqual(["number or sizes of versions"]);
  });

  it("would tell, if events caused writes to localStorage alone", async () => {
    const { tells } = await examineChromium(service, 2, "writes locally on events");
    expect(tells).toEqual(["number or sizes of versions in localStorage"]);
  });

  it("would tell, if names were stored", async () => {
    const { tells } = await examineChromium(service, 2, "keeps names");
    expect(tells).toEqual(["clear text"]);
  });
});
