import { readFileSync } from "node:fs";
import { encodeBase64url, windowAt } from "@lethe/core/message";
import { expect, it } from "vitest";
import { enrol, fetchTask, reportOf, upload } from "../../test/device.ts";
import { eventually } from "../../test/eventually.ts";
import { countedReports } from "../../test/metrics.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService } from "../../test/service.ts";

it("has the metrics that docs/operating.md lists and the examples use, and no device, token or address in any label", async () => {
  const service = await startTestService();
  try {
    await createTask(service, EXACT_TASK);
    const task = await fetchTask(service, EXACT_TASK.task);
    const window = windowAt(EXACT_TASK, service.clock() / 1000);
    const devices = await Promise.all(Array.from({ length: 3 }, () => enrol(service, task, window)));
    for (const device of devices) await upload(service, device, reportOf(device));
    await upload(
      service,
      { ...(devices[0] as (typeof devices)[0]), token: "a-token-of-nobody" },
      reportOf(devices[0] as (typeof devices)[0]),
    );
    await eventually(async () => ((await countedReports(service)) === 3 ? true : undefined));
    const ready = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^lethe_keys_ready (.*)$/m.exec(ready)?.[1])).toBeGreaterThan(0);
    expect(ready).toMatch(/^lethe_windows_overdue 0$/m);
    await closeByHand(service, task.name, window);
    const text = await eventually(async () => {
      const found = await (await fetch(`${service.url}/metrics`)).text();
      const isReleased = found.includes('lethe_windows_total{outcome="released"} 1');
      return isReleased && found.includes("lethe_released_window{") ? found : undefined;
    });

    const documented = readFileSync(new URL("../../../../docs/operating.md", import.meta.url), "utf8");
    const listed = [...documented.matchAll(/^\| `(lethe_\w+)` \|/gm)].map(([, name]) => name);
    const told = [...text.matchAll(/^# TYPE (lethe_\w+) /gm)].map(([, name]) => name);
    expect(told.sort()).toEqual(listed.sort());

    const samples = new Set([...text.matchAll(/^(lethe_\w+)[ {]/gm)].map(([, name]) => name));
    for (const path of ["grafana/lethe.json", "deploy/alerts.yml"]) {
      const example = readFileSync(new URL(`../../../../examples/${path}`, import.meta.url), "utf8");
      const used = new Set([...example.matchAll(/\blethe_\w+/g)].map(([name]) => name));
      expect(used.size).toBeGreaterThan(6);
      expect([...used].filter((name) => !samples.has(name))).toEqual([]);
    }

    const labels = [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => ({ name, value }));
    expect(labels.length).toBeGreaterThan(10);
    for (const { id, token } of devices) {
      for (const secret of [encodeBase64url(id), token, "127.0.0.1"]) expect(text).not.toContain(secret);
    }
    const own = labels.filter(({ name }) => ["device", "address", "token"].includes(name));
    expect(own).toEqual([]);
  } finally {
    await service.remove();
  }
});
