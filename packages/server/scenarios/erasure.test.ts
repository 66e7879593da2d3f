import { type Secret, secret } from "@lethe/core/encryption";
import { decodeBase64url, decodePublicKeys, encodeBase64url, keyContextOf } from "@lethe/core/message";
import { randomnessFrom } from "@lethe/core/randomness";
import { expect, it } from "vitest";
import { type Device, enrol, enrolMany, fetchTask, reportOf, upload } from "../test/device.ts";
import { eventually } from "../test/eventually.ts";
import { allBytes } from "../test/folder.ts";
import { readKeyFile } from "../test/key-file.ts";
import { closeByHand, createTask, EXACT_TASK, startTestService } from "../test/service.ts";

const random = randomnessFrom(globalThis.crypto);

/** A state captured in the window, made into the report that it would become, and opened. */
function openCaptured(
  { task, window, id, publicKeys }: Device,
  stored: Uint8Array,
  master: Secret<Uint8Array>,
): boolean {
  const [part] = task.layout;
  const [key] = decodePublicKeys(task.layout, publicKeys);
  if (!part || !key) throw new TypeError("there is nothing to open");
  const report = part.device.resume(key, stored, false, random).seal(stored);
  const context = keyContextOf(part, { task: task.name, window, device: id, role: "tally" });
  return part.server.open(master, context, report, random).valid;
}

it("after the release a captured state, the data folder and its backup from within the window open nothing", async () => {
  const service = await startTestService();
  try {
    await createTask(service, EXACT_TASK);
    const task = await fetchTask(service, EXACT_TASK.task);
    const window = Math.floor(service.clock() / 120_000);
    const victim = await enrol(service, task, window);
    const [key] = decodePublicKeys(task.layout, victim.publicKeys);
    const recorder = task.layout[0]?.device.start(key as Uint8Array, random);
    recorder?.record(0);
    const stored = recorder?.write() as Uint8Array;
    for (const device of await enrolMany(service, task, window, 3)) await upload(service, device, reportOf(device));
    await service.backup();

    const before = readKeyFile(service.keyFile).windows[`${task.name}/${window}`] as string;
    const master = decodeBase64url("a secret", before);
    expect(openCaptured(victim, stored, secret(master))).toBe(true);

    await closeByHand(service, task.name, window);
    await eventually(async () => (`${task.name}/${window}` in readKeyFile(service.keyFile).windows ? undefined : true));
    await service.stop();

    // The key file, too, which says nothing more of this window.
    const everything = allBytes(service.folder);
    expect(everything.includes(Buffer.from(victim.id))).toBe(true);
    for (const form of [Buffer.from(master), encodeBase64url(master), Buffer.from(master).toString("hex")]) {
      expect(everything.includes(form)).toBe(false);
    }
    for (const text of Object.values(readKeyFile(service.keyFile).windows)) {
      expect(openCaptured(victim, stored, secret(decodeBase64url("a secret", text)))).toBe(false);
    }
  } finally {
    await service.remove();
  }
});
