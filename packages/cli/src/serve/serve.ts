/**
 * The command `lethe serve`, and `lethe key`, which reads the same key file. `prepare.ts` checks the options, `open.ts`
 * starts the service of `@lethe/server`, and `print.ts` writes what the operator needs to know. Start with `serve` in
 * this file.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { LetheError } from "@lethe/core/error";
import type { Service } from "@lethe/server";
import { type Command, Option } from "commander";
import { dataOption, keyFileOption, operatorKey, positive, serviceUrl, wholeNumber } from "../options/options.ts";
import { stopSignal } from "../system/stop-signal.ts";
import { open } from "./open.ts";
import { keepToken, prepare, type ServeOptions } from "./prepare.ts";
import { describe, toJson, warningsFor } from "./print.ts";

/** Adds the command to the program. */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("run the collection service: it enrols devices, accepts reports, and releases statistics")
    .addOption(
      new Option(
        "--role <role>",
        "what this process does; intake and tally need DATABASE_URL, leader and helper need each other",
      )
        .choices(["all", "intake", "tally", "leader", "helper"])
        .default("all"),
    )
    .option("--peer <url>", "leader: the address of its helper", serviceUrl)
    .option(
      "--peer-key <key>",
      "leader, helper: the operator key of the other, as `npx lethe key` prints it there",
      operatorKey,
    )
    .option("--host <address>", "the address to listen at", "127.0.0.1")
    .option("--port <n>", "the port; 0 takes any free one (default: 8080, 0 for a tally)", wholeNumber(0, 65_535))
    .option("--url <url>", "the address that devices use, if it differs from where the service listens", serviceUrl)
    .addOption(dataOption())
    .addOption(keyFileOption())
    .option("--trust-proxy", "trust X-Forwarded-For; only behind a proxy that sets it")
    .option("--private-results", "releases and the states of windows need the admin token; manifests stay public")
    .addOption(
      // For `lethe demo --mode two-server`, which knows what happens on its devices and runs its servers as processes.
      new Option("--demonstration <file>", "the JSON file that /v1/demonstration shows to everybody").hideHelp(),
    )
    .addOption(
      // Without a parser: commander would quote a wrong address, which may hold a secret.
      new Option(
        "--webhook <url>",
        "post every release there, or why there is none, signed with the operator key; not for an intake",
      ).env("LETHE_WEBHOOK"),
    )
    .option(
      "--webhook-over-http",
      "let the webhook be an http address of another machine, which anybody can read along",
    )
    .option(
      "--threads <n>",
      "threads that open reports (default: one less than there are processors)",
      wholeNumber(1, 256),
    )
    .option("--keys-ahead <n>", "device keys to prepare for each window", wholeNumber(1, 1e6), 500)
    .option("--enrolment-rate <n>", "enrolments per second from one address", positive, 100)
    .option(
      "--enrolment-burst <n>",
      "enrolments that one address may make at once, above that rate",
      wholeNumber(1, 1e9),
      1000,
    )
    .option(
      "--most-per-address <n>",
      "devices that one address may enrol per window, in this process",
      wholeNumber(1, 1e9),
      10_000,
    )
    .option(
      "--most-per-window <n>",
      "devices that may enrol per window, from all addresses (default: 1000000; 100000000 with DATABASE_URL)",
      wholeNumber(1, 1e9),
    )
    .option("--enrolment-tokens <file>", "one token per line; only a device that sends one of them can enrol")
    .option(
      "--attestation <module.js>",
      "a module that exports attest({ task, window, attestation }), which decides whether a device may enrol",
    )
    .option(
      "--abandon-lost-windows",
      "give up windows whose secret is missing from the key file, or whose database from DATABASE_URL, permanently",
    )
    .option(
      "--accept-clock",
      "start once although the clock is far from the last stored time, because the clock is right",
    )
    .option("--new-database", "start once with a new database, because the one that belongs to the key file is lost")
    .option(
      "--require-standby",
      "refuse a PostgreSQL server that confirms a commit before a synchronous standby has it on its disk",
    )
    .option("--least-free <MB>", "disk space to keep free (default: 5% of the volume, 24 to 256)", wholeNumber(0, 1e9))
    .option(
      "--database-timeout <seconds>",
      "end the process if the embedded database takes longer for a statement",
      wholeNumber(1, 86_400),
      30,
    )
    .option("--dev", "development: every task gets windows of seconds")
    .option("--json", "print JSON only")
    .addHelpText("after", HELP)
    .action(serve);
}

const HELP = `
The service uses the PostgreSQL database that DATABASE_URL names (postgres://user:password@host/database). Commas
separate the hosts of a database with standbys (host1:5432,host2:5432): the service finds the primary. Spaces separate
several databases, among which the service divides devices. Any number of processes may share them: intakes, which
answer devices and hold no keys, and tallies, which share one key file. Without DATABASE_URL, one process does
everything, with an embedded database in the data folder.

Tasks of two servers need a leader, which devices reach, and a helper, which only the leader reaches. They belong to
two operators, each with its own database and key file. Both set LETHE_PEER_SECRET to the same secret of at least 32
characters.

The admin token comes from LETHE_ADMIN_TOKEN. Without it, the service creates one, in the file admin-token in the data
folder. An intake without a token answers devices only. Logs go to stderr, one JSON object per line. Ctrl-C or SIGTERM
ends the service gracefully; a second one ends it at once. Exit codes: 2 if it cannot start; 3 if the embedded database
stops answering, and 4 if the data folder is gone. After 3 and 4, restart it, as systemd or a container does.`;

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const prepared = await prepare(options, command);
  for (const warning of warningsFor(options, prepared)) process.stderr.write(`warning: ${warning}\n`);
  const stopped = stopSignal();
  const service = await open(options, prepared);
  await keepToken(prepared, service);
  console.log(options.json ? toJson(service, options, prepared) : describe(service, options, prepared));
  await runUntil(stopped, service);
}

/** Closes the service when it is asked to stop, or ends the process if the service breaks first. */
async function runUntil(stopped: Promise<void>, service: Service): Promise<void> {
  let broken: LetheError | undefined;
  void service.broken.then((reason) => {
    broken = reason;
  });
  await Promise.race([stopped, service.broken]);
  try {
    await Promise.race([service.close(), service.broken]);
  } catch (error) {
    // The reason is known a moment after the first failure that it caused.
    await nextTurn();
    if (!broken) throw error;
  }
  if (broken) await endBroken(service, broken);
}

/** Tell a supervisor whether a restart helps at once, or when the folder is back. */
const EXIT_CODES: Readonly<Record<string, number>> = { "bad-database": 3, "bad-data-folder": 4 };
const LAST_ANSWERS_MS = 1000;

/** Lets requests under way get their 503. The service has logged the reason. */
async function endBroken(service: Service, { code }: LetheError): Promise<never> {
  await Promise.race([service.close().catch(() => undefined), sleep(LAST_ANSWERS_MS)]);
  process.exit(EXIT_CODES[code] ?? 1);
}
