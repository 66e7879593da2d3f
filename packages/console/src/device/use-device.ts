import { LetheError } from "@lethe/core/error";
import { useEffect, useState } from "preact/hooks";
import type { RunningDevice } from "./running-device.ts";

/** A device of this page: on its way, running, ended, or why it could not be opened. */
export type DeviceLife<D> =
  | { readonly state: "opening" }
  | { readonly state: "running"; readonly device: D }
  | { readonly state: "failed"; readonly failure: LetheError }
  | { readonly state: "ended"; readonly why: Ending };

/** Who ended it. */
export type Ending = "wiped here" | "another tab";

/** Opens a device while the view is shown, and closes it when the view is left. */
export function useDevice<D extends RunningDevice>(
  open: () => Promise<D>,
): { readonly life: DeviceLife<D>; end(why: Ending): Promise<void>; again(): void } {
  const [life, setLife] = useState<DeviceLife<D>>({ state: "opening" });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setLife({ state: "opening" });
    const opening = open();
    opening.then(
      (device) => isCurrent && setLife({ state: "running", device }),
      (error) => isCurrent && setLife({ state: "failed", failure: asFailure(error) }),
    );
    return () => {
      isCurrent = false;
      opening.then(
        (device) => device.close(),
        () => undefined,
      );
    };
  }, [tries]);
  return {
    life,
    end: async (why) => {
      if (why === "wiped here" && life.state === "running") await life.device.wipe();
      setLife({ state: "ended", why });
    },
    again: () => setTries((n) => n + 1),
  };
}

/** Any failure as one that the page can show. */
export function asFailure(error: unknown): LetheError {
  return error instanceof LetheError ? error : new LetheError("service-failed", String(error));
}
