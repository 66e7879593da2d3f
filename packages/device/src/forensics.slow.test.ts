import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestService, type TestService } from "../../server/test/service.ts";
import { chromiumPath } from "../test/browser.ts";
import { examineChromium } from "../test/forensics-chromium.ts";
import { examineFiles } from "../test/forensics-files.ts";

/** Of each kind. */
const [FILE_RUNS, CHROMIUM_RUNS] = [100, 60];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ keysAhead: 2 * FILE_RUNS + 10 });
});
afterAll(() => service.remove());

it("100 folders of programs with events are like 100 without", async () => {
  const { figures, tells } = await examineFiles(service, FILE_RUNS);
  console.log(JSON.stringify(figures));
  expect(tells).toEqual([]);
});

it.skipIf(!chromiumPath)("in the profile of a browser, 60 origins with events are like 60 without", async () => {
  const { figures, tells } = await examineChromium(service, CHROMIUM_RUNS);
  console.log(JSON.stringify(figures));
  expect(tells).toEqual([]);
});
