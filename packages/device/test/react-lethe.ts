/// <reference lib="dom" />
import { indexedDbStore, type LetheOptions } from "@lethe/device";
import { LetheProvider, type UsedLethe, useLethe } from "@lethe/device/react";
import { createElement, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";

/** An application with one button, in strict mode, which runs every effect twice. */
function Button() {
  const used = useLethe<"happened">();
  application.used = used as UsedLethe;
  application.records.add(used.record);
  return createElement("button", { type: "button", onClick: () => used.record("happened") }, "It happened");
}

const application = {
  used: undefined as UsedLethe | undefined,
  /** Functions that renders have got. */
  records: new Set<unknown>(),
  /** How often Lethe was opened: it then asks to be the one that writes. */
  opened: 0,
  now: 0,
  root: undefined as Root | undefined,

  mount(options: LetheOptions): void {
    const store = indexedDbStore("react");
    const counting = {
      ...store,
      lock: (...args: Parameters<typeof store.lock>) => {
        application.opened++;
        return store.lock(...args);
      },
    };
    application.root = createRoot(document.body);
    const all = { ...options, store: counting, clock: () => application.now };
    application.root.render(
      createElement(StrictMode, null, createElement(LetheProvider, { options: all }, createElement(Button))),
    );
  },

  /** Lives on; how many statistics it counts. */
  async live(now: number): Promise<number> {
    application.now = now;
    await application.used?.lethe?.sendPending();
    return application.used?.lethe?.inspect().memory.length ?? 0;
  },
};

declare global {
  var app: typeof application;
}
globalThis.app = application;
