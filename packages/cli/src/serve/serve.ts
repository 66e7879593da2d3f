import { resolve } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { LetheError } from "@lethe/core/error";
import type { Role, Service, ServiceOptions } from "@lethe/server";
import { type Command, Option } from "commander";
import { pino } from "pino";
import { type AdminToken, adminTokenOf, DEFAULT_DATA } from "../options/admin-token.ts";
import {
  DEFAULT_SERVER,
  dataOption,
  keyFileOption,
  operatorKey,
  positive,
  serviceUrl,
  wholeNumber,
} from "../options/options.ts";
import { PREPARING } from "../print/progress.ts";
import { failure } from "../system/failure.ts";
import { requireFreePort, whyNotListening } from "../system/port.ts";
import { readSdk } from "../system/sdk.ts";
import { stopSignal } from "../system/stop-signal.ts";
import { type EnrolmentOptions, enrolmentRules } from "./enrolment-rules.ts";
import { keyFileOf, requireKeyFolder } from "./key-file.ts";
import { type PeerOptions, peerOf } from "./peer.ts";

interface ServeOptions extends EnrolmentOptions, PeerOptions {
  readonly role: Role;
  readonly host: string;
  readonly port?: number;
  readonly url?: string;
  readonly data: string;
  readonly keyFile?: string;
  readonly trustProxy?: boolean;
  readonly threads?: number;
  readonly keysAhead: number;
  readonly dev?: boolean;
  readonly json?: boolean;
  readonly abandonLostWindows?: true;
  readonly acceptClock?: true;
  readonly newDatabase?: true;
  /** In megabytes. */
  readonly leastFree?: number;
  readonly databaseTimeout: number;
}

export function addServe(program: Command): void {
  program
    .command("serve")
    .description("the collection service: enrols devices, takes in reports, and releases what they tell together")
    .addOption(
      new Option(
        "--role <role>",
        "what this process does; intake and tally need DATABASE_URL, leader and helper each other",
      )
        .choices(["all", "intake", "tally", "leader", "helper"])
        .default("all"),
    )
    .option("--peer <url>", "leader: where its helper is", serviceUrl)
    .option(
      "--peer-key <key>",
      "leader, helper: the other's operator key, as `npx lethe key` prints it there",
      operatorKey,
    )
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <n>", "0 takes any that is free (default: 8080, 0 for a tally)", wholeNumber(0, 65_535))
    .option("--url <url>", "where devices reach it, if that is not where it listens", serviceUrl)
    .addOption(dataOption())
    .addOption(keyFileOption())
    .option("--trust-proxy", "believe X-Forwarded-For: only behind a proxy that sets it")
    .option("--threads <n>", "threads that open reports (default: one less than processors)", wholeNumber(1, 256))
    .option("--keys-ahead <n>", "device keys that lie ready for each window", wholeNumber(1, 1e6), 500)
    .option("--enrolment-rate <n>", "enrolments a second from one address", positive, 100)
    .option("--enrolment-burst <n>", "so many more at once", wholeNumber(1, 1e9), 1000)
    .option(
      "--most-per-address <n>",
      "devices that one address enrols in a window, in this process",
      wholeNumber(1, 1e9),
      10_000,
    )
    .option(
      "--most-per-window <n>",
      "devices that enrol in a window, from all addresses (default: 1000000; 100000000 with DATABASE_URL)",
      wholeNumber(1, 1e9),
    )
    .option("--enrolment-tokens <file>", "one token a line; then only who brings one of them enrols")
    .option("--attestation <module.js>", "exports attest({ task, window, attestation }): whether a device may enrol")
    .option("--abandon-lost-windows", "give up windows whose secret is not in the key file, for ever")
    .option("--accept-clock", "the clock is right, though it is far from the last time stored: for one start")
    .option("--new-database", "the key file's database is lost: begin with a new one, once")
    .option(
      "--least-free <MB>",
      "disk space that stays free (default: 5% of the volume, 24 to 256)",
      wholeNumber(0, 1e9),
    )
    .option(
      "--database-timeout <seconds>",
      "how long the embedded database may be at a statement before the process ends",
      wholeNumber(1, 86_400),
      30,
    )
    .option("--dev", "windows of seconds for every task: for trying things out")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(serve);
}

const HELP = `
The database is a PostgreSQL server if DATABASE_URL names one (postgres://user:password@host/database), which any number of
processes may share: intakes, which devices reach and which hold no keys, and tallies, which share one key file. Else it is
embedded, in the data folder, for one process that does everything.

Tasks of two servers take a leader, which devices reach, and a helper, which only its leader asks: two operators, each with a
database and a key file of their own. What both must know is a secret of at least 32 characters, in LETHE_PEER_SECRET.

The admin token is taken from LETHE_ADMIN_TOKEN; if that is not set, one is made and kept in the file admin-token in
the data folder. An intake without one answers devices only. Logs go to stderr, one JSON object a line. Ends well on
Ctrl-C or SIGTERM; a second one ends it at once. Ends with code 2 if it cannot start; with 3 if the embedded database does not
answer any more, and with 4 if its folder is gone: start it again, as systemd or a container does.`;

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { role } = options;
  const databaseUrl = process.env.DATABASE_URL;
  const peer = peerOf(options);
  if ((role === "intake" || role === "tally") && databaseUrl === undefined) {
    throw failure(`--role ${role} needs a database that processes can share: set DATABASE_URL to a PostgreSQL server`);
  }
  if (databaseUrl !== undefined && command.getOptionValueSource("data") === "cli") {
    throw failure("--data is for the embedded database, but DATABASE_URL is set: leave out one of them");
  }
  const data = resolve(options.data);
  const place: Place = {
    ...(databaseUrl === undefined ? { data } : { databaseUrl }),
    ...(role !== "intake" && { keyFile: keyFileOf(options, databaseUrl) }),
  };
  if (place.data !== undefined && place.keyFile !== undefined) requireKeyFolder(place.keyFile, place.data);
  const adminToken = databaseUrl === undefined ? adminTokenOf(data) : await sharedToken(role, data);
  const enrolment = await enrolmentRules(options, databaseUrl !== undefined);
  for (const warning of warningsFor(options, adminToken !== undefined)) process.stderr.write(`warning: ${warning}\n`);
  const stopped = stopSignal();
  const service = await open(options, {
    ...place,
    ...(adminToken && { adminToken: adminToken.token }),
    ...(peer && { peer }),
    enrolment,
  });
  // Only now is it sure that this is a data folder, and ours.
  await keepToken(adminToken, service);
  const { url, operatorKey } = service;
  const { databaseUrl: _, ...told } = place;
  const { secret: __, ...other } = peer ?? {};
  console.log(
    options.json
      ? JSON.stringify({
          url,
          role,
          ...(operatorKey !== undefined && { operatorKey }),
          ...(peer && { peer: other }),
          ...told,
        })
      : describe(service, options, place, adminToken),
  );
  let broken: LetheError | undefined;
  void service.broken.then((reason) => {
    broken = reason;
  });
  await Promise.race([stopped, service.broken]);
  try {
    await Promise.race([service.close(), service.broken]);
  } catch (error) {
    // What broke is known a moment after the first that failed for it.
    await nextTurn();
    if (!broken) throw error;
  }
  if (broken) await endBroken(service, broken);
}

/** For a supervisor: starting again helps at once, or when the folder is back. */
const EXIT_CODES: Readonly<Record<string, number>> = { "bad-database": 3, "bad-data-folder": 4 };
const LAST_ANSWERS_MS = 1000;

/** Requests under way get their 503; the service has logged why. */
async function endBroken(service: Service, { code }: LetheError): Promise<never> {
  await Promise.race([service.close().catch(() => undefined), sleep(LAST_ANSWERS_MS)]);
  process.exit(EXIT_CODES[code] ?? 1);
}

async function keepToken(adminToken: AdminToken | undefined, service: Service): Promise<void> {
  try {
    adminToken?.keep();
  } catch (error) {
    await service.close();
    const { code } = error as NodeJS.ErrnoException;
    throw failure(`the admin token cannot be kept in ${adminToken?.source} (${code}): set LETHE_ADMIN_TOKEN`);
  }
}

/** Where everything is. */
type Place = Pick<ServiceOptions, "data" | "databaseUrl" | "keyFile">;

/** Of processes that share a database; an intake can do without. */
async function sharedToken(role: Role, data: string): Promise<AdminToken | undefined> {
  if (process.env.LETHE_ADMIN_TOKEN !== undefined) return adminTokenOf(data);
  if (role === "intake") return undefined;
  throw failure("the admin token is missing, which all tallies share: set LETHE_ADMIN_TOKEN");
}

function warningsFor({ dev, url, host, role }: ServeOptions, isAdmin: boolean): string[] {
  const isUnknown = url === undefined && isAdmin;
  return [
    ...(dev
      ? [
          "DEVELOPMENT. Every task that is created gets windows of seconds, and is released for 10 devices, or fewer if its minimumDevices says so. Never for people's data.",
        ]
      : []),
    ...(isUnknown && role === "tally"
      ? ["without --url, the manifests of tasks tell devices the address of this tally, which enrols none."]
      : []),
    ...(isUnknown && role !== "tally" && role !== "helper" && (role === "intake" || ["0.0.0.0", "::"].includes(host))
      ? ["without --url, the manifests of tasks tell devices an address of this machine only."]
      : []),
  ];
}

async function open(
  options: ServeOptions,
  prepared: Place & Pick<ServiceOptions, "adminToken" | "enrolment" | "peer">,
): Promise<Service> {
  const {
    role,
    host,
    url,
    trustProxy,
    threads,
    keysAhead,
    dev,
    abandonLostWindows,
    acceptClock,
    newDatabase,
    leastFree,
  } = options;
  await requireFreePort({ host, port: portOf(options) });
  const { openService } = await import("@lethe/server");
  const log = pino({ base: null }, pino.destination({ dest: 2, sync: true }));
  try {
    return await openService({
      ...prepared,
      role,
      host,
      port: portOf(options),
      ...(url !== undefined && { url }),
      ...(trustProxy && { trustProxy }),
      log,
      sdk: readSdk(),
      onCreating: () => process.stderr.write(`${PREPARING}\n`),
      ...(threads !== undefined && { threads }),
      keysAhead,
      ...(dev && { development: true }),
      ...(abandonLostWindows && { abandonLostWindows }),
      ...(acceptClock && { acceptClock }),
      ...(newDatabase && { newDatabase }),
      ...(leastFree !== undefined && { leastFreeBytes: 1e6 * leastFree }),
      databaseSeconds: options.databaseTimeout,
    });
  } catch (error) {
    throw whyNotListening(error, { host, port: portOf(options) });
  }
}

/** Nobody but the admin and monitoring looks for a tally, of which there may be several on a machine. */
const portOf = ({ role, port }: ServeOptions): number => port ?? (role === "tally" ? 0 : 8080);

function describe(
  { url, operatorKey }: Service,
  { role, url: publicUrl, peer, peerKey }: ServeOptions,
  { data, keyFile }: Place,
  adminToken: AdminToken | undefined,
): string {
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["devices use", publicUrl],
    ["operator key", operatorKey === undefined ? "none yet: start a tally" : `${operatorKey}   (devices pin it)`],
    ["helper", role === "leader" ? `${peer}, ${peerKey}` : undefined],
    ["leader", role === "helper" ? peerKey : undefined],
    ["data", data ?? "PostgreSQL, at DATABASE_URL"],
    ["keys", keyFile && `${keyFile}   (all secrets: never in a backup of the data)`],
    ["admin token", adminToken?.source],
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

/** For a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
