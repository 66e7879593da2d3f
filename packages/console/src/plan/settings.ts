import type { Route } from "../shell/route.ts";

/** What the reader chose. All of it is in the address, so that a link shows the same plan. */
export interface Settings {
  /** The task file as it is typed; undefined for the first template. */
  readonly text: string | undefined;
  /** How many devices report. */
  readonly devices: number;
  /** Which metric of the file is drawn. */
  readonly metric: number;
  /** What the reader must see of it; undefined for the smallest change that is visible. */
  readonly detect: number | undefined;
}

/** What nobody chose. */
export const DEFAULTS: Settings = { text: undefined, devices: 20_000, metric: 0, detect: undefined };

/** As many as core plans for. */
export const MOST_DEVICES = 1e9;

/** Longer files are not in the address: some browsers and most programs that links are pasted into cut them. */
export const LONGEST_IN_ADDRESS = 8000;

/** Reads the settings of an address; anything unknown is the default. */
export function settingsOf({ file, devices, metric, detect }: Route["query"]): Settings {
  return {
    text: file || undefined,
    devices: wholeIn(devices, 1, MOST_DEVICES) ?? DEFAULTS.devices,
    metric: wholeIn(metric, 0, MOST_DEVICES) ?? DEFAULTS.metric,
    detect: positive(detect),
  };
}

/** The settings as they are in an address. Those that nobody chose are empty, which leaves them out. */
export function queryOf({ text = "", devices, metric, detect }: Settings): Route["query"] {
  return {
    file: text.length > LONGEST_IN_ADDRESS ? "" : text,
    devices: devices === DEFAULTS.devices ? "" : String(devices),
    metric: metric === DEFAULTS.metric ? "" : String(metric),
    detect: detect === undefined ? "" : String(detect),
  };
}

function wholeIn(text: string | undefined, least: number, most: number): number | undefined {
  const found = Number(text || Number.NaN);
  return Number.isInteger(found) && found >= least && found <= most ? found : undefined;
}

function positive(text: string | undefined): number | undefined {
  const found = Number(text || Number.NaN);
  return Number.isFinite(found) && found > 0 ? found : undefined;
}
