import type { JSX } from "preact";
import { whole } from "../format/number.ts";
import { Failure, Loading } from "../shell/states.tsx";
import { DevicePanel } from "./device-panel.tsx";
import { Ended } from "./ended.tsx";
import type { LocalDevice } from "./running-device.ts";
import { useDevice } from "./use-device.ts";

/** The device whose ticks this page makes. */
export function LocalSection(): JSX.Element {
  const { life, end, again } = useDevice(openLocal);
  return (
    <section class="inside" aria-label="A device in this page">
      <h2>A device in this page</h2>
      <p class="muted">
        Lethe's SDK runs in your browser and stores in its database, IndexedDB. Only its surroundings are made for this
        page: a tick takes a second instead of five minutes, the keys come from the page itself, and nothing is sent.
      </p>
      {life.state === "opening" && <Loading what="the device" />}
      {life.state === "failed" && <Failure failure={life.failure} again={again} />}
      {life.state === "ended" && <Ended why={life.why} again={again} />}
      {life.state === "running" && (
        <DevicePanel
          device={life.device}
          advance={life.device.tick}
          stepLabel="Next tick"
          onGone={() => void end("another tab")}
          onWipe={() => void end("wiped here")}
          status={() => <Window device={life.device} />}
        />
      )}
    </section>
  );
}

async function openLocal(): Promise<LocalDevice> {
  return (await import("./local-device.ts")).openLocalDevice();
}

function Window({ device: { passed, ticks } }: { device: LocalDevice }): JSX.Element {
  return (
    <p class="muted">
      {whole(passed())} of {whole(ticks)} ticks of this window have passed. When it ends, the device replaces its
      ciphertexts by a report with noise, and gets new keys.
    </p>
  );
}
