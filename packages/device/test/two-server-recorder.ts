import { randomnessFrom } from "@lethe/core/randomness";
import { createTwoServerStatistic, sharingContext } from "@lethe/core/two-server";

/** For a page: times of the ticks of a two-server task with `counters`, in milliseconds. */
export interface TwoServerRecorder {
  start(counters: number, publicKeys: readonly number[]): void;
  ticks(count: number): number[];
}

const random = randomnessFrom(globalThis.crypto);
let write: () => unknown = () => undefined;

(globalThis as { recorder?: TwoServerRecorder }).recorder = {
  start: (counters, publicKeys) => {
    const localEpsilons = new Array<number>(counters).fill(1);
    const statistic = createTwoServerStatistic({
      statistic: "occurrence",
      noise: "device",
      ticks: 288,
      hides: 1000,
      localEpsilons,
    });
    const ctx = sharingContext({ task: "page", window: 0 });
    const recorder = statistic.device(ctx).start(Uint8Array.from(publicKeys), random);
    write = () => recorder.write();
  },
  ticks: (count) =>
    Array.from({ length: count }, () => {
      const begin = performance.now();
      if (write() === undefined) throw new Error("no write is left");
      return performance.now() - begin;
    }),
};
