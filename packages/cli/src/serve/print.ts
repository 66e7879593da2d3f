import { resolve } from "node:path";
import type { Role, Service } from "@lethe/server";
import { type AdminToken, DEFAULT_DATA } from "../options/admin-token.ts";
import { DEFAULT_SERVER } from "../options/options.ts";
import type { Prepared, ServeOptions } from "./prepare.ts";

/** Mistakes that a service with these options runs with nevertheless. */
export function warningsFor({ dev, url, host, role }: ServeOptions, { adminToken }: Prepared): string[] {
  const isUnknown = url === undefined && adminToken !== undefined;
  const isElsewhere = role === "intake" || (role !== "helper" && ["0.0.0.0", "::"].includes(host));
  const warnings: string[] = [];
  if (dev) {
    warnings.push(
      "DEVELOPMENT. Every task gets windows of seconds, and is released for 10 devices, or fewer if its minimumDevices says so. Never use it for people's data.",
    );
  }
  if (isUnknown && role === "tally") {
    warnings.push("without --url, the manifests of tasks give devices the address of this tally, which enrols none.");
  } else if (isUnknown && isElsewhere) {
    warnings.push("without --url, the manifests of tasks give devices an address that only this machine can reach.");
  }
  return warnings;
}

/** The same as `describe`, for programs. Never shows a secret. */
export function toJson({ url, operatorKey }: Service, { role }: ServeOptions, { place, peer }: Prepared): string {
  const { databaseUrl: _, ...files } = place;
  const { secret: __, ...other } = peer ?? {};
  return JSON.stringify({
    url,
    role,
    ...(operatorKey !== undefined && { operatorKey }),
    ...(peer && { peer: other }),
    ...files,
  });
}

/**
 * What an operator needs to know about a service that has started: its address, its key, its files, and what to do
 * next.
 */
export function describe(
  { url, operatorKey }: Service,
  { role, url: publicUrl, peer, peerKey, webhook }: ServeOptions,
  { place: { data, keyFile }, adminToken }: Prepared,
): string {
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["devices use", publicUrl],
    ["operator key", operatorKey === undefined ? "none yet: start a tally" : `${operatorKey}   (devices pin it)`],
    ["helper", role === "leader" ? `${peer}, ${peerKey}` : undefined],
    ["leader", role === "helper" ? peerKey : undefined],
    ["data", data ?? "PostgreSQL, at DATABASE_URL"],
    ["keys", keyFile && `${keyFile}   (all secrets: never in a backup of the data)`],
    ["admin token", adminToken?.source],
    // The rest of its address may hold a secret.
    ["webhook", webhook && new URL(webhook).origin],
  ];
  return [
    `Lethe listens at ${url}${role === "all" ? "" : ` (${role})`}`,
    ...lines.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(14)} ${value}`])),
    ...(adminToken ? [`Next: ${nextStep(role, url, data, adminToken)}`] : []),
  ].join("\n");
}

function nextStep(role: Role, url: string, data: string | undefined, { source }: AdminToken): string {
  const isFound = source === "LETHE_ADMIN_TOKEN" || data === resolve(process.env.LETHE_DATA ?? DEFAULT_DATA);
  const where = url === DEFAULT_SERVER ? "" : ` --server ${url}`;
  const what = role === "helper" ? "agree" : "create";
  const first = role === "leader" ? "once the helper's operator has agreed (npx lethe task agree there): " : "";
  const folder = isFound || data === undefined ? "" : `LETHE_DATA=${quoted(data)} `;
  return `${first}${folder}npx lethe task ${what} task.json${where}`;
}

/** Quoted for a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
