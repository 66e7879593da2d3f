import type { Release } from "@lethe/core/message";
import type { PageFile } from "./trial.ts";

/** What the page needs. */
export interface TrialPageOptions {
  readonly server: string;
  readonly task: string;
  readonly operatorKey: string;
  readonly metric: string;
  readonly windowSeconds: number;
}

/** The files of the page, by their paths. Their policy allows the SDK of the service, and no inline script. */
export function trialFiles(options: TrialPageOptions, releases: () => readonly Release[]): Map<string, PageFile> {
  const { server } = options;
  const policy = `default-src 'none'; style-src 'self'; script-src 'self' ${server}/lethe.js; connect-src 'self' ${server}`;
  const html = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
  return new Map([
    ["/", { headers: html, body: () => PAGE }],
    ["/try.css", { headers: { "content-type": "text/css" }, body: () => STYLE }],
    ["/try.js", { headers: { "content-type": "text/javascript" }, body: () => scriptOf(options) }],
    ["/releases", { headers: { "content-type": "application/json" }, body: () => JSON.stringify(releases()) }],
  ]);
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Lethe: try it</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="try.css">
<h1>Did somebody click?</h1>
<p>This page uses Lethe as an application would. Click, and watch what the device stores and what the service learns.</p>
<p><button id="click" disabled>Click me</button> <span id="state" role="status">Asking the service for a key …</span></p>
<h2>What this device stores</h2>
<p>The record in your browser's storage, from <code>lethe.inspect()</code>. It holds ciphertexts, which only the service can open, and only
after the device has added noise to its answer. It always has the same size, and it is rewritten at fixed times, click or no
click. So neither its bytes nor its times show whether you clicked.</p>
<pre id="stored">nothing yet</pre>
<p id="size"></p>
<h2>What the service learns</h2>
<p id="release" role="status">Nothing yet. A window lasts a few seconds; its release follows a few seconds later.</p>
<p>This page alone remembers in which window you clicked, to point out the right release. The SDK does not.</p>
<script type="module" src="try.js"></script>
</html>
`;

const STYLE = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
button { font: inherit; padding: .6rem 1.2rem; }
pre { white-space: pre-wrap; word-break: break-all; background: #8882; padding: .8rem; border-radius: .3rem; }
#release { padding: .8rem; border-left: .3rem solid #888; }
#release.yours { border-color: #2a7; font-weight: bold; }
`;

const SHOWN_BYTES = 64;

/** Plain JavaScript for browsers. */
function scriptOf({ metric, windowSeconds, ...sdk }: TrialPageOptions): string {
  return `import { openLethe } from ${JSON.stringify(`${sdk.server}/lethe.js`)};

const show = (id, text) => { document.getElementById(id).textContent = text; };
const problems = [];
const lethe = await openLethe({
  ...${JSON.stringify(sdk)},
  onProblem: ({ code, message }) => problems.push(code + ": " + message),
});
const button = document.getElementById("click");
const runningWindow = (secondsAgo = 0) => Math.floor((Date.now() / 1000 - secondsAgo) / ${windowSeconds});
const opened = Date.now();
let clickedIn = [];
let last = "";
let versions = 0;

button.addEventListener("click", () => {
  const before = problems.length;
  lethe.record(${JSON.stringify(metric)});
  const running = runningWindow();
  // In its first second the SDK may still count in the window before.
  clickedIn = runningWindow(1) < running ? [running - 1, running] : [running];
  document.getElementById("release").className = "";
  if (problems.length === before) {
    show("release", "You clicked in window " + running + ". Its release follows within about ${windowSeconds + 5} seconds.");
  } else {
    clickedIn = [];
    show("release", "Your click was not counted (" + problems.at(-1) + "). Click again.");
  }
});

function showDevice() {
  const { stored, memory } = lethe.inspect();
  button.disabled = memory.length === 0;
  const left = Math.ceil((runningWindow() + 1) * ${windowSeconds} - Date.now() / 1000);
  const waiting = Date.now() - opened < 10000 ? "Asking the service for a key …" : "Still waiting. If this page is open in another tab, use that one.";
  show("state", button.disabled ? problems.at(-1) ?? waiting : "Window " + runningWindow() + " ends in " + left + " s.");
  if (!stored) return;
  const hex = Array.from(stored, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex === last) return;
  last = hex;
  versions++;
  show("stored", hex.slice(0, ${2 * SHOWN_BYTES}).replace(/(.{8})/g, "$1 ") + "…");
  show("size", stored.length + " bytes, of which the first ${SHOWN_BYTES} are shown. This is version " + versions + " since you opened the page.");
}

async function showRelease() {
  const releases = await (await fetch("releases")).json();
  const found = releases
    .filter(({ window }) => clickedIn.includes(window))
    .find(({ window, metrics: [{ estimate }] }) => estimate > 0.5 || window === clickedIn.at(-1));
  if (!found) return;
  const [{ estimate, standardError }] = found.metrics;
  const release = document.getElementById("release");
  release.className = "yours";
  release.textContent = "Window " + found.window + " is released and contains your click: of " + found.received +
    (found.received === 1 ? " device, an estimated " : " devices, an estimated ") + estimate.toFixed(2) + " ± " + standardError.toFixed(2) + " clicked.";
}

setInterval(showDevice, 200);
setInterval(() => showRelease().catch(() => show("state", "The service has ended.")), 500);
showDevice();
`;
}
