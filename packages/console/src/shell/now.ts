import { useEffect, useState } from "preact/hooks";

/** The reader's time in milliseconds; in a visible tab it is looked at every second. */
export function useNow(): number {
  const [, setTime] = useState(0);
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") setTime(Date.now());
    };
    const timer = setInterval(look, 1000);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  // The state would be up to a second older than what it is compared with.
  return Date.now();
}

/** Whole seconds until a time of the reader's clock, in milliseconds; 0 once it has passed. */
export function useSecondsUntil(time: number): number {
  return Math.max(0, Math.ceil((time - useNow()) / 1000));
}
