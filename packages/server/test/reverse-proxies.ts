import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";
import { temporaryFolder } from "./folder.ts";

const PROGRAMS = { nginx: "/usr/sbin/nginx", haproxy: "/usr/sbin/haproxy" };

/** A reverse proxy whose configuration is in `examples/deploy`. */
export type ProxyName = keyof typeof PROGRAMS;

/** Whether Debian's packages are here. */
export const areProxiesInstalled: boolean = Object.values(PROGRAMS).every((path) => existsSync(path));

/**
 * Starts the proxy with the configuration of `examples/deploy` in front of a service, without TLS and on a free port of
 * this machine. Every client shares one connection to the service, as far as the proxy allows. It ends with the test.
 */
export async function startProxy(
  name: ProxyName,
  service: { readonly url: string },
): Promise<{ readonly url: string }> {
  const folder = temporaryFolder();
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const file = join(folder, "proxy.conf");
  const example = name === "nginx" ? exampleOf("nginx.conf") : exampleOf("haproxy.cfg");
  const text = (name === "nginx" ? nginxWith : haproxyWith)(example, address, new URL(service.url).host, folder);
  writeFileSync(file, text);
  const args = name === "nginx" ? ["-e", join(folder, "error.log"), "-c", file] : ["-W", "-db", "-f", file];
  const child = spawn(PROGRAMS[name], args, { stdio: ["ignore", "ignore", "ignore"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const url = `http://${address}`;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`${name} did not start`);
    return fetch(`${url}/v1/tasks`).catch(() => undefined);
  });
  return { url };
}

const exampleOf = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../examples/deploy/${name}`, import.meta.url)), "utf8");

/** One process in the foreground, with one connection to the service that it keeps. */
function nginxWith(example: string, address: string, service: string, folder: string): string {
  const server = replaced(example, [
    [/listen 443 ssl;/, `listen ${address};`],
    [/\n *ssl_certificate.*/g, ""],
    [/server 127\.0\.0\.1:8080;/, `server ${service};`],
    [/keepalive 64;/, "keepalive 1;"],
  ]);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => {
    mkdirSync(join(folder, kind));
    return `${kind}_temp_path ${join(folder, kind)};`;
  });
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `daemon off; master_process off; ${user} pid ${join(folder, "pid")};
    events { worker_connections 512; }
    http { access_log off; ${paths.join(" ")}\n${server}\n}`;
}

function haproxyWith(example: string, address: string, service: string): string {
  return replaced(example, [
    [/bind :443 ssl crt .*/, `bind ${address}`],
    [/server lethe 127\.0\.0\.1:8080/, `server lethe ${service}`],
    [/http-reuse safe/, "http-reuse always"],
  ]);
}

/** Throws if the example does not have what is replaced. */
function replaced(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((before, [pattern, by]) => {
    const after = before.replace(pattern, by);
    if (after === before) throw new Error(`the example has no ${pattern}`);
    return after;
  }, text);
}

/** Free now; nobody else on this machine is likely to take it within the next second. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
