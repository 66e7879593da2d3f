import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../server/test/folder.ts";
import { unlessGone } from "../../server/test/service-process.ts";
import {
  emptyPlace,
  longLivedServices,
  makeSender,
  makeTask,
  refusedStart,
  type Sender,
  sendAll,
  textAt,
} from "../test/long-lived.ts";

const start = longLivedServices();

it.each([
  ["is gone", () => undefined],
  ["is an empty one now, as when its volume is not mounted", (data: string) => void mkdirSync(data)],
])(
  "a data folder that %s is noticed, nothing is acknowledged any more, and all is there when it is back",
  async (_what, replace) => {
    const place = await emptyPlace(temporaryFolder());
    const service = await start(place);
    const task = await makeTask(service);
    const senders: Sender[] = [];
    for (let i = 0; i < 20; i++) senders.push(await makeSender(service, task));
    const [sent, unsent] = [senders.slice(0, 5), senders.slice(5)];
    expect(await sendAll(sent, service)).toEqual(sent.map(() => 201));

    const away = join(temporaryFolder(), "away");
    renameSync(place.data, away);
    replace(place.data);
    const answers = await Promise.all(unsent.map(({ send }) => send(service).catch(unlessGone)));
    expect(answers.filter((status) => status !== undefined && status !== 503)).toEqual([]);
    const ready = await textAt(service, "/readyz").catch(unlessGone);
    expect(ready?.status ?? 503).toBe(503);
    const { status, stderr } = await service.ended;
    expect(status).toBe(4);
    expect(stderr.match(/the service cannot go on/g)).toHaveLength(1);
    expect(stderr).toContain(`the data folder ${place.data} was removed, replaced or unmounted`);

    const refused = refusedStart(place);
    expect({ status: refused.status, stdout: refused.stdout }).toEqual({ status: 2, stdout: "" });
    expect(refused.stderr).toMatch(/^error: there is no database in the data folder .*: is the volume mounted\?.*\n$/);
    expect(existsSync(join(place.data, "database"))).toBe(false);

    rmSync(place.data, { recursive: true, force: true });
    renameSync(away, place.data);
    const again = await start(place);
    expect(await sendAll(sent, again)).toEqual(sent.map(() => 200));
    // The files went on to exist under another name: some of what nobody acknowledged is in them.
    for (const answer of await sendAll(unsent, again)) expect([200, 201]).toContain(answer);
  },
);
