import { useEffect, useState } from "preact/hooks";

/** The reader's time in milliseconds; follows it every second, in a visible tab. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") setNow(Date.now());
    };
    const timer = setInterval(look, 1000);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return now;
}

/** Whole seconds until a time of the reader's clock, in milliseconds; 0 once it has passed. */
export function useSecondsUntil(time: number): number {
  return Math.max(0, Math.ceil((time - useNow()) / 1000));
}
