import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Service } from "@lethe/server";
import { type Command, Option } from "commander";
import { pino } from "pino";
import { type AdminToken, adminTokenOf, DEFAULT_DATA } from "./admin-token.ts";
import { type EnrolmentOptions, enrolmentRules } from "./enrolment-rules.ts";
import { failure } from "./failure.ts";
import { DEFAULT_SERVER, positive, serviceUrl, wholeNumber } from "./options.ts";
import { stopSignal } from "./stop-signal.ts";
import { whyUnusable } from "./text-file.ts";

interface ServeOptions extends EnrolmentOptions {
  readonly host: string;
  readonly port: number;
  readonly url?: string;
  readonly data: string;
  readonly keyFile?: string;
  readonly trustProxy?: boolean;
  readonly threads?: number;
  readonly keysAhead: number;
  readonly dev?: boolean;
  readonly json?: boolean;
  readonly abandonLostWindows?: true;
}

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("the collection service: enrols devices, takes in reports, and releases what they tell together")
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <n>", "0 takes any that is free", wholeNumber(0, 65_535), 8080)
    .option("--url <url>", "where devices reach it, if that is not where it listens", serviceUrl)
    .addOption(new Option("--data <folder>", "the database").env("LETHE_DATA").default(DEFAULT_DATA))
    .addOption(
      new Option("--key-file <file>", "all secrets, outside of the data folder (default: <data>.keys)").env(
        "LETHE_KEY_FILE",
      ),
    )
    .option("--trust-proxy", "believe X-Forwarded-For: only behind a proxy that sets it")
    .option("--threads <n>", "threads that open reports (default: one less than processors)", wholeNumber(1, 256))
    .option("--keys-ahead <n>", "device keys that lie ready for each window", wholeNumber(1, 1e6), 500)
    .option("--enrolment-rate <n>", "enrolments a second from one address", positive, 100)
    .option("--enrolment-burst <n>", "so many more at once", wholeNumber(1, 1e9), 1000)
    .option("--most-per-address <n>", "devices that one address enrols in a window", wholeNumber(1, 1e9), 10_000)
    .option("--enrolment-tokens <file>", "one token a line; then only who brings one of them enrols")
    .option("--attestation <module.js>", "exports attest({ task, window, attestation }): whether a device may enrol")
    .option("--abandon-lost-windows", "give up windows whose secret is not in the key file, for ever")
    .option("--dev", "windows of seconds for every task: for trying things out")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(serve);
}

const HELP = `
The admin token is taken from LETHE_ADMIN_TOKEN; if that is not set, one is made and kept in the file admin-token in
the data folder. Logs go to stderr, one JSON object a line. Ends well on Ctrl-C or SIGTERM; a second one ends it at once.`;

async function serve(options: ServeOptions): Promise<void> {
  if (process.env.DATABASE_URL !== undefined) {
    throw failure("DATABASE_URL is set, but PostgreSQL is not supported yet: unset it to use the embedded database");
  }
  const data = resolve(options.data);
  const keyFile = resolve(options.keyFile ?? `${data}.keys`);
  if (isInside(data, keyFile)) {
    throw failure(
      `the key file ${keyFile} lies inside the data folder, whose backups must hold no secret: move it out`,
    );
  }
  const adminToken = await adminTokenOf(data);
  const enrolment = await enrolmentRules(options);
  if (options.dev) {
    process.stderr.write(
      "warning: DEVELOPMENT. Every task that is created gets windows of seconds, and is released for a handful of devices. Never for people's data.\n",
    );
  }
  if (options.url === undefined && ["0.0.0.0", "::"].includes(options.host)) {
    process.stderr.write(
      "warning: without --url, the manifests of tasks tell devices an address of this machine only.\n",
    );
  }
  const stopped = stopSignal();
  const service = await open(options, { data, keyFile, adminToken, enrolment });
  console.log(
    options.json
      ? JSON.stringify({ url: service.url, operatorKey: service.operatorKey, data, keyFile })
      : describe(service, { data, keyFile, adminToken, publicUrl: options.url }),
  );
  await stopped;
  await service.close();
}

interface Prepared {
  readonly data: string;
  readonly keyFile: string;
  readonly adminToken: AdminToken;
  readonly enrolment: Awaited<ReturnType<typeof enrolmentRules>>;
}

async function open(options: ServeOptions, { data, keyFile, adminToken, enrolment }: Prepared): Promise<Service> {
  const { host, port, url, trustProxy, threads, keysAhead, dev, abandonLostWindows } = options;
  const { openService } = await import("@lethe/server");
  const log = pino({ base: null }, pino.destination({ dest: 2, sync: true }));
  try {
    const service = await openService({
      data,
      keyFile,
      adminToken: adminToken.token,
      host,
      port,
      ...(url !== undefined && { url }),
      ...(trustProxy && { trustProxy }),
      log,
      enrolment,
      ...(threads !== undefined && { threads }),
      keysAhead,
      ...(dev && { development: true }),
      ...(abandonLostWindows && { abandonLostWindows }),
    });
    // Only now is it sure that this is a data folder, and ours.
    adminToken.keep();
    return service;
  } catch (error) {
    throw explained(error, options);
  }
}

/** What the system refuses, in one line. */
function explained(error: unknown, { host, port }: ServeOptions): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  const refused = error as NodeJS.ErrnoException;
  const { code = "", path } = refused;
  if (code === "EADDRINUSE") return failure(`port ${port} of ${host} is in use: choose another with --port`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return failure(`${host} is no address of this machine: choose another with --host`);
  }
  if (code === "EACCES" && path === undefined) {
    return failure(`port ${port} may not be listened on: choose one above 1023 with --port`);
  }
  return path === undefined ? error : failure(`${path}: ${whyUnusable(refused)}`);
}

function isInside(folder: string, file: string): boolean {
  const way = relative(realPath(folder), realPath(file));
  return !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Of what may not be there yet: as far as it is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

function describe(
  { url, operatorKey }: Service,
  { data, keyFile, adminToken, publicUrl }: Omit<Prepared, "enrolment"> & { readonly publicUrl: string | undefined },
): string {
  const isFound = adminToken.source === "LETHE_ADMIN_TOKEN" || data === resolve(process.env.LETHE_DATA ?? DEFAULT_DATA);
  const how = [isFound ? "" : `LETHE_DATA=${quoted(data)} `, url === DEFAULT_SERVER ? "" : ` --server ${url}`];
  return [
    `Lethe listens at ${url}`,
    ...(publicUrl === undefined ? [] : [`  devices use    ${publicUrl}`]),
    `  operator key   ${operatorKey}   (devices pin it)`,
    `  data           ${data}`,
    `  keys           ${keyFile}   (back it up apart from the data)`,
    `  admin token    ${adminToken.source}`,
    `Next: ${how[0]}lethe task create task.json${how[1]}`,
  ].join("\n");
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
