import { afterAll, beforeAll, it } from "vitest";
import { type LeakScene, prepareScene, testRefusals, testTokens, testUploads } from "../../test/refusal-leak.ts";
import { startTestService, type TestService } from "../../test/service.ts";

const TOKEN = "an-enrolment-token-of-the-operator";
const MANY = { perSecond: 1e6, burst: 1e6 };

let service: TestService;
let scene: LeakScene;
beforeAll(async () => {
  service = await startTestService({ keysAhead: 400, enrolment: { rate: MANY, tokens: [TOKEN] } });
  scene = await prepareScene(service, TOKEN);
});
afterAll(() => service?.remove());

it("tokens are compared in a time that does not show where they differ", () => testTokens(2000));

it("refusals take as long whatever is right about a request", () => testRefusals(scene, TOKEN, 432));

it("a report is stored in a time that does not show if it is valid", () =>
  testUploads(scene, { headers: { authorization: `Bearer ${TOKEN}` } }, 144));
