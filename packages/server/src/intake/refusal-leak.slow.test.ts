import { afterAll, beforeAll, it } from "vitest";
import { type LeakScene, prepareScene, testRefusals, testTokens, testUploads } from "../../test/refusal-leak.ts";
import { startTestService, type TestService } from "../../test/service.ts";

const TOKEN = "an-enrolment-token-of-the-operator";
const MANY = { perSecond: 1e6, burst: 1e6 };

let service: TestService;
let scene: LeakScene;
beforeAll(async () => {
  service = await startTestService({
    keysAhead: 1000,
    enrolment: { rate: MANY, tokens: [TOKEN], mostPerAddress: 1e6 },
  });
  scene = await prepareScene(service, TOKEN);
});
afterAll(() => service?.remove());

it("tokens are compared in a time that does not show where they differ", () => testTokens(100_000));

it("refusals take as long whatever is right about a request", () => testRefusals(scene, TOKEN, 20_000));

it("a report is stored in a time that does not show if it is valid", () =>
  testUploads(scene, { headers: { authorization: `Bearer ${TOKEN}` } }, 4000));
