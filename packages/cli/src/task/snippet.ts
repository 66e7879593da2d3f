import { fetchManifest, statusOfFile } from "@lethe/analyst";
import { eventsOf, type Manifest } from "@lethe/core/message";
import { failure } from "../system/failure.ts";
import { integrityOf, readSdk, sdkPath } from "../system/sdk.ts";

/** What a page without a bundler needs to use the SDK. */
export interface Snippet {
  /** Tags for the head of the page. The second names a file of the site itself. */
  readonly html: string;
  /** The content of that file. */
  readonly script: string;
  /** Directives of a Content-Security-Policy that allow this and nothing else. */
  readonly policy: string;
  readonly src: string;
  readonly integrity: string;
}

/** `lethe task snippet`. The integrity is that of the SDK in this installation, whatever the service delivers. */
export async function printSnippet(
  task: string,
  { server, json }: { readonly server: string; readonly json?: boolean },
): Promise<void> {
  const manifest = await fetchManifest(server, task);
  const sdk = readSdk();
  await requireDelivered(server, sdkPath(sdk));
  const snippet = snippetOf(manifest, sdk);
  console.log(json ? JSON.stringify({ task: manifest.task, ...snippet }) : describe(snippet, manifest));
}

/** Refuses to print a path that the service does not deliver: the page would count nothing. */
async function requireDelivered(server: string, path: string): Promise<void> {
  const status = await statusOfFile(server, path);
  if (status === 200) return;
  throw failure(
    `the service at ${server} does not deliver ${path}, the SDK of this version of lethe (${status}): run the version that the ` +
      "service runs, and ask a process that answers devices",
  );
}

function snippetOf(manifest: Manifest, sdk: Uint8Array): Snippet {
  const { task, servers, groups } = manifest;
  const [first, helper] = servers;
  if (!first) throw failure(`task ${task} has no server`);
  const src = encoded(first.url) + sdkPath(sdk);
  const integrity = integrityOf(sdk);
  const options = { server: first.url, task, operatorKey: first.key, ...(helper && { helperKey: helper.key }) };
  const [example = ""] = eventsOf(manifest);
  const groupLines = groups ? [`  group: ${JSON.stringify(groups[0])}, // or ${groups.slice(1).join(", ")}`] : [];
  return {
    src,
    integrity,
    html: [
      `<script type="module" src="${src}" integrity="${integrity}" crossorigin="anonymous"></script>`,
      `<script type="module" src="/telemetry.js"></script>`,
    ].join("\n"),
    script: [
      "export const lethe = await globalThis.Lethe?.openLethe({",
      ...Object.entries(options).map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`),
      ...groupLines,
      "});",
      `// When it happens: lethe?.record(${JSON.stringify(example)});`,
    ].join("\n"),
    policy: `script-src 'self' ${src}; connect-src 'self' ${new URL(src).origin}`,
  };
}

/** Encoded for an attribute and for a policy, where semicolons and commas separate parts. */
function encoded(url: string): string {
  return new URL(url).href
    .replace(/\/$/, "")
    .replaceAll(/[;,"'<>&]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function describe({ html, script, policy }: Snippet, { task }: Manifest): string {
  return [
    `Task ${task} in a page without a bundler: two tags, a file, and a line of policy.`,
    "",
    "1. In the page's head. The browser runs the SDK only if it has exactly these bytes; after an upgrade of the service they are still there.",
    "",
    html,
    "",
    "2. /telemetry.js, a file of your site. Compare operatorKey with what `npx lethe key` prints at the server.",
    "",
    script,
    "",
    "3. If the page has a Content-Security-Policy, it needs no inline script, only these two directives (add them to yours):",
    "",
    policy,
  ].join("\n");
}
