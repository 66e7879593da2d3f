import { expect, it } from "vitest";
import { type CountingDevice, openCountingDevice } from "../test/counting-device.ts";
import { temporaryFolder } from "../test/file-store-folder.ts";

const HOUR = 3600;

/** What the device sent, and how often each. */
interface Sent {
  readonly bodies: Map<string, number>;
  readonly device: CountingDevice;
}

async function openDevice(): Promise<Sent> {
  const bodies = new Map<string, number>();
  const device = await openCountingDevice(temporaryFolder(), {
    onSend: (body) => {
      const text = Buffer.from(body).toString("hex");
      bodies.set(text, (bodies.get(text) ?? 0) + 1);
    },
  });
  return { bodies, device };
}

// A window is four hours, a tick two.
it.each([5, -30])(
  "a device whose clock jumps by %i hours and back counts on, and no window gets two reports of it",
  async (hours) => {
    const { device, bodies } = await openDevice();
    await device.untilCounting();
    const first = device.window();
    device.lethe.record("happened");
    device.setWrong(hours * HOUR);
    for (let i = 0; i < 3; i++) {
      await device.lethe.sendPending();
      device.lethe.record("happened");
      device.service.clock.advance(60);
    }
    device.setWrong(0);
    for (let window = 0; window < 9; window++) {
      await device.lethe.sendPending();
      device.toNextWindow();
      await device.lethe.sendPending();
    }
    // By now every window that the wrong clock named is over: it counts as any other device does.
    await device.untilCounting();
    const last = device.window();
    device.lethe.record("happened");
    device.toNextWindow();
    await device.lethe.sendPending();
    expect((await device.status(last)).received).toBe(1);
    const received: number[] = [];
    for (let window = first; window <= last; window++) received.push((await device.status(window)).received);
    console.log(JSON.stringify({ hours, received, problems: [...new Set(device.problems.map(({ code }) => code))] }));
    expect(Math.max(...received)).toBe(1);
    expect(bodies.size).toBeGreaterThanOrEqual(received.reduce((sum, each) => sum + each, 0));
    expect(device.problems.filter(({ code }) => code === "bad-store")).toEqual([]);
  },
);
