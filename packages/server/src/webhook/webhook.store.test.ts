import type { ServerResponse } from "node:http";
import { windowAt, windowSeconds } from "@lethe/core/message";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { enrolMany, fetchTask, reportFor, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { windowsIn } from "../../test/key-file.ts";
import { isFrom, type Posted, type Receiver, startReceiver } from "../../test/receiver.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService, type TestService } from "../../test/service.ts";
import {
  agree,
  enrolShared,
  makeTask,
  SHARED_TASK,
  sendShared,
  sharedReport,
  startPair,
} from "../../test/two-servers.ts";

const QUICK = { invalidNoise: () => 0, pollMilliseconds: 50, leaseSeconds: 1 };

async function receive(...answer: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...answer);
  onTestFinished(() => receiver.close());
  return receiver;
}

const say =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end();

/** A service with a webhook, and the number of its running window. */
async function serviceWith(
  options: Parameters<typeof startTestService>[0],
  slower: { readonly webhookMilliseconds?: number } = {},
): Promise<{ service: TestService; window: number }> {
  const service = await startTestService(options, { ...QUICK, ...slower });
  onTestFinished(() => service.remove());
  await createTask(service, EXACT_TASK);
  return { service, window: windowAt(EXACT_TASK, service.clock() / 1000) };
}

/** Closes a window in which so many devices reported. */
async function finish(service: TestService, window: number, devices: number): Promise<void> {
  const task = await fetchTask(service, EXACT_TASK.task);
  service.clock.advance(Math.max(0, window * windowSeconds(EXACT_TASK) - service.clock() / 1000));
  for (let i = 0; i < devices; i++) await reportFor(service, task, window, "happened");
  await closeByHand(service, EXACT_TASK.task, window);
}

const gaugesOf = async ({ url }: TestService): Promise<string> => (await fetch(`${url}/metrics`)).text();
const got = (receiver: Receiver, posts: number): Promise<readonly Posted[]> =>
  eventually(async () => (receiver.posts.length >= posts ? receiver.posts : undefined));

describe("the webhook", () => {
  it("gets every outcome once, with the bytes that the service publishes, signed with the operator key", async () => {
    const receiver = await receive();
    const { service, window } = await serviceWith({ webhook: `${receiver.url}/outcomes?key=k` });
    await finish(service, window, 3);
    await got(receiver, 1);
    await finish(service, window + 1, 2);
    await got(receiver, 2);
    await eventually(async () => /^lethe_webhook_waiting 0$/m.test(await gaugesOf(service)) || undefined);
    expect(receiver.posts.map(({ document: { status, window: number } }) => [status, number - window])).toEqual([
      ["released", 0],
      ["not-enough", 1],
    ]);
    for (const post of receiver.posts) {
      const path = `/v1/tasks/${EXACT_TASK.task}/releases/${post.document.window}`;
      expect(post.body).toBe(await (await fetch(service.url + path)).text());
      expect(post).toMatchObject({
        method: "POST",
        url: "/outcomes?key=k",
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const age = service.clock() / 1000 - Number(post.headers["webhook-timestamp"]);
      expect(age).toBe((window + 1 - post.document.window) * windowSeconds(EXACT_TASK));
      expect(isFrom(service.operatorKey, post)).toBe(true);
      expect(isFrom(service.operatorKey, { ...post, body: `${post.body} ` })).toBe(false);
    }
    expect(await gaugesOf(service)).toMatch(/^lethe_webhook_deliveries_total 2$/m);
  });

  it("gets an outcome until it takes it, under the same id; is never waited for; and no secret is logged", async () => {
    const elsewhere = await receive();
    const answers = [say(500), say(302, { location: elsewhere.url }), (): void => undefined, say(200)];
    const receiver = await receive((_, response, { length }) => answers[length - 1]?.(response));
    const log: string[] = [];
    const write = (line: string): void => void log.push(line);
    // A receiver that answers at all must do so within this time, also on a busy machine.
    const { service, window } = await serviceWith(
      {
        webhook: `${receiver.url}/a-secret-path?key=a-secret-key`,
        log: pino({ level: "debug" }, { write }),
      },
      { webhookMilliseconds: 2000 },
    );
    await finish(service, window, 3);
    const posts = await got(receiver, 4);
    await eventually(async () => /^lethe_webhook_waiting 0$/m.test(await gaugesOf(service)) || undefined);
    expect(posts.length).toBe(4);
    expect(new Set(posts.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(elsewhere.posts).toEqual([]);
    expect(await gaugesOf(service)).toMatch(/^lethe_webhook_failures_total 3$/m);
    const all = log.join("");
    expect(all).not.toContain("a-secret");
    for (const part of ["answered 500", "answered 302, a redirect", "did not answer in time", "takes outcomes again"]) {
      expect(all).toContain(part);
    }
  });

  it("gets what was published while no process had a webhook, and nothing from before the first", async () => {
    const receiver = await receive();
    const { service, window } = await serviceWith({});
    await finish(service, window, 3);
    await eventually(async () => /outcome="released"} 1$/m.test(await gaugesOf(service)) || undefined);
    // A port at which nobody listens: the operator's receiver is away.
    await service.restart({ webhook: "http://127.0.0.1:1/" });
    await finish(service, window + 1, 3);
    await eventually(async () => /^lethe_webhook_failures_total [1-9]/m.test(await gaugesOf(service)) || undefined);
    await service.stop();
    await service.restart({ webhook: receiver.url });
    const [post] = await got(receiver, 1);
    expect(post?.document.window).toBe(window + 1);
    await eventually(async () => /^lethe_webhook_waiting 0$/m.test(await gaugesOf(service)) || undefined);
    expect(receiver.posts.length).toBe(1);
  });

  it("gets windows that were lost", async () => {
    const receiver = await receive();
    const { service, window } = await serviceWith({});
    const task = await fetchTask(service, EXACT_TASK.task);
    for (const device of await enrolMany(service, task, window, 3)) await upload(service, device, reportOf(device));
    await service.stop();
    const restore = await service.backup();
    await service.restart();
    await closeByHand(service, task.name, window);
    await eventually(async () => !windowsIn(service.keyFile, task.name).includes(window) || undefined);
    await service.stop();
    await restore();
    await service.restart({ abandonLostWindows: true, webhook: receiver.url });
    const [post] = await got(receiver, 1);
    expect(post?.document).toMatchObject({ status: "lost", window });
  });

  it("of each of two servers gets that server's share, signed by it", async () => {
    const receivers = { leader: await receive(), helper: await receive() };
    const pair = await startPair({
      leader: { webhook: receivers.leader.url },
      helper: { webhook: receivers.helper.url },
    });
    onTestFinished(() => pair.remove());
    const task = await makeTask(pair);
    expect((await agree(pair, SHARED_TASK)).status).toBe(200);
    const window = windowAt(SHARED_TASK, pair.leader.clock() / 1000);
    for (let i = 0; i < 3; i++) {
      const device = await enrolShared(pair, task, window);
      const report = await sharedReport(task, window, device, ["happened"]);
      expect((await sendShared(pair, SHARED_TASK.task, window, device, report)).status).toBe(201);
    }
    await closeByHand(pair.leader, SHARED_TASK.task, window);
    for (const role of ["leader", "helper"] as const) {
      const [post] = await got(receivers[role], 1);
      expect(post?.document.status).toBe("shared");
      expect(isFrom(pair.keys[role], post as Posted)).toBe(true);
      const path = `/v1/tasks/${SHARED_TASK.task}/releases/${window}`;
      expect(post?.body).toBe(await (await fetch(pair[role].url + path)).text());
      const gauges = await eventually(async () => {
        const text = await gaugesOf(pair[role]);
        return text.includes("lethe_released_window{") ? text : undefined;
      });
      expect(gauges).toContain(`lethe_released_window{task="shared",outcome="shared"} ${window}\n`);
      expect(gauges).not.toContain("lethe_released_estimate{");
    }
  });

  it("is refused at an intake, and at an address that is not allowed", async () => {
    const intake = startTestService({ role: "intake", webhook: "https://hooks.example.com/" });
    await expect(intake).rejects.toThrow("an intake has no webhook");
    await expect(startTestService({ webhook: "http://hooks.example.com/" })).rejects.toThrow("--webhook-over-http");
  });
});
