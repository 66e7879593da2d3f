import { useEffect, useRef, useState } from "preact/hooks";
import { type Observation, observe } from "./observation.ts";
import { createOrdinaryCounter, type OrdinaryCounter } from "./ordinary-counter.ts";
import type { RunningDevice } from "./running-device.ts";

/** Looks at the stores of a device and of an ordinary counter, every second or when asked. */
export interface Looks {
  /** The newest first. */
  readonly observations: readonly Observation[];
  readonly counter: OrdinaryCounter;
  readonly isCounting: boolean;
  /** Whether a tick is passing. */
  readonly isStepping: boolean;
  /** Whether it looks by itself. Not at first, if the reader's system asks for less motion. */
  readonly isRunning: boolean;
  setRunning(isRunning: boolean): void;
  /** Lets the next tick pass, or looks again, and waits for it. */
  step(): Promise<void>;
  /** Records an event on the device and with the counter. Returns why the device did not count it, if it did not. */
  record(name: string): string | undefined;
}

/** The picture changes at most this often by itself: nothing flashes. */
const PAUSE_MS = 1000;

/** Whether the reader's system asks for less motion. */
function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** `advance` lets the device's time pass, and says whether the device is still there. */
export function useLooks(device: RunningDevice, advance: () => Promise<boolean>, onGone: () => void): Looks {
  const [observations, setObservations] = useState<readonly Observation[]>([]);
  const [isCounting, setCounting] = useState(() => device.isCounting());
  const [isRunning, setRunning] = useState(() => !prefersStillness());
  const [counter] = useState(createOrdinaryCounter);
  const [, setRecords] = useState(0);
  const [steps, setSteps] = useState(0);
  const all = useRef(observations);
  const recorded = useRef(0);
  const turn = useRef<Promise<void>>(Promise.resolve());
  const isShown = useRef(true);

  function look(): void {
    setCounting(device.isCounting());
    const stored = device.stored();
    if (!stored || all.current[0]?.device.writes === stored.writes) return;
    const { bytes, writes } = counter;
    all.current = observe(all.current, recorded.current, stored, { bytes, writes });
    recorded.current = 0;
    setObservations(all.current);
  }

  /** One after another, however often it is asked for. */
  function step(): Promise<void> {
    setSteps((n) => n + 1);
    turn.current = turn.current.then(async () => {
      if (!isShown.current) return;
      const isThere = await advance();
      if (!isShown.current) return;
      if (isThere) look();
      else onGone();
      setSteps((n) => n - 1);
    });
    return turn.current;
  }

  useEffect(() => {
    look();
    return () => {
      isShown.current = false;
    };
  }, []);
  useEffect(() => {
    if (!isRunning) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const run = async (): Promise<void> => {
      if (document.visibilityState === "visible") await step();
      if (isCurrent) timer = setTimeout(run, PAUSE_MS);
    };
    timer = setTimeout(run, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isRunning]);

  return {
    ...{ observations, counter, isCounting, isStepping: steps > 0, isRunning, setRunning, step },
    record: (name) => {
      counter.record(name, Date.now());
      recorded.current++;
      // The counter has changed.
      setRecords((n) => n + 1);
      return device.record(name);
    },
  };
}
