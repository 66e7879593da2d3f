import { availableParallelism } from "node:os";
import { LetheError } from "@lethe/core/error";
import type { Task } from "@lethe/core/message";
import { inOrder } from "../async/in-order.ts";
import { createTurns } from "../async/in-turn.ts";
import type { OtherServer } from "../between/other-server.ts";
import { helperAdmin } from "../helper/admin.ts";
import { helperRound } from "../helper/round.ts";
import type { Admin } from "../http/admin-routes.ts";
import { createReleasedGauges } from "../http/released-gauges.ts";
import type { Intake } from "../intake/intake.ts";
import { createHelperClient, type Helper } from "../leader/client.ts";
import { createPatience } from "../rounds/patience.ts";
import { countingRound, type RoundParts } from "../rounds/round.ts";
import { type Rounds, startRounds } from "../rounds/rounds.ts";
import { openWindows } from "../rounds/windows.ts";
import { measureBacklog } from "../storage/backlog.ts";
import { Unavailable } from "../storage/database.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { startThreads, type Threads } from "../tally/threads.ts";
import { type CreatedTask, createTask } from "../tasks/create-task.ts";
import { asRun } from "../tasks/development.ts";
import { answerRequests } from "../tasks/forward-task.ts";
import { ONE_SERVER, twoServers } from "../tasks/task-servers.ts";
import { requireWebhook } from "../webhook/address.ts";
import { startWebhook, type Webhook } from "../webhook/webhook.ts";
import type { Address } from "./address.ts";
import type { ServiceInternals, ServiceOptions } from "./options.ts";
import { type Common, closeEarly } from "./remote-admin.ts";

const KEYS_AHEAD = 500;
const LEASE_SECONDS = 30;
const POLL_MILLISECONDS = 1000;
const DEVELOPMENT_POLL_MILLISECONDS = 200;

/** How long other processes wait for one that died, and how long a process rests between two rounds. */
function pace(
  { leaseSeconds = LEASE_SECONDS, pollMilliseconds }: ServiceInternals,
  { development = false }: ServiceOptions,
): { readonly leaseSeconds: number; readonly pollMilliseconds: number } {
  const usual = development ? DEVELOPMENT_POLL_MILLISECONDS : POLL_MILLISECONDS;
  return { leaseSeconds, pollMilliseconds: pollMilliseconds ?? usual };
}

/** The part of a process that holds the keys: it counts and releases by itself, and does what the admin asks. */
export interface RunningKeyHolder extends Admin, Rounds {
  readonly threads: Threads;
}

/** What a process must be given to hold the keys. */
export interface Owner {
  readonly keyFile: string;
  readonly adminToken: string;
}

/** Throws unless the options say where the keys are, and who the admin is. */
export function requireOwner({ keyFile, adminToken }: ServiceOptions): Owner {
  if (keyFile === undefined) throw new LetheError("bad-role", "a process that holds keys needs a key file");
  if (adminToken === undefined) throw new LetheError("bad-role", "a process that holds keys needs an admin token");
  return { keyFile, adminToken };
}

/**
 * Starts the part of a process that holds the keys: at a helper one that answers its leader, otherwise one that counts.
 */
export function startKeyHolder(
  common: Common,
  keyFile: KeyFile,
  options: ServiceOptions & Owner,
  internals: ServiceInternals,
  intake: Intake | undefined,
  own: Address,
): RunningKeyHolder {
  const { database, databases, tasks, log, clock, metrics } = common;
  const { development = false, role, peer } = options;
  const { leaseSeconds, pollMilliseconds } = pace(internals, options);
  const helper = role === "leader" ? helperOf(peer, clock.now) : undefined;
  // After everything that may throw: nobody else would end the threads.
  const start = internals.startThreads ?? startThreads;
  const threads = start(options.threads ?? Math.max(1, availableParallelism() - 1));
  const patience = createPatience();
  const parts: RoundParts = {
    ...{ database, databases, tasks, keyFile, threads, log, patience, leaseSeconds, helper },
    now: clock.now,
    onCounted: metrics.counted,
    onFinished: metrics.finished,
  };
  const loop = {
    ...{ log, helper, pollMilliseconds },
    onLooked: metrics.looked,
    onFailed: metrics.failed,
  };
  metrics.watch(async () => {
    const backlog = await measureBacklog(databases, tasks, clock.guess());
    // A helper's keys are in the pool of its leader.
    return role === "helper" ? { ...backlog, keys: Number.POSITIVE_INFINITY } : backlog;
  });
  metrics.watchReleases(createReleasedGauges(database));
  if (role === "helper") {
    const rounds = startRounds(loop, (isStopping) => helperRound(parts, isStopping));
    const stop = (): Promise<void> => inOrder([rounds.stop, threads.close]);
    return { ...rounds, ...helperAdmin(database, development), threads, stop };
  }
  const create = creatingTasks(parts, { ...options, helper }, internals, own);
  const rounds = startRounds(loop, (isStopping) =>
    countingRound(
      {
        ...parts,
        keysAhead: options.keysAhead ?? KEYS_AHEAD,
        invalidNoise: internals.invalidNoise,
        answerRequests: () =>
          answerRequests({
            ...{ database, now: clock.now, adminToken: options.adminToken, operatorKey: keyFile.operatorKey },
            createTask: create,
          }),
        isIntakeBusy: intake?.isBusy ?? (() => false),
        beforeClose: intake?.flush ?? (async () => undefined),
      },
      isStopping,
    ),
  );
  return {
    ...rounds,
    threads,
    stop: () => inOrder([rounds.stop, patience.settled, threads.close]),
    createTask: async (task) => {
      const created = await create(task, own);
      rounds.wake();
      return created;
    },
    close: async (window) => {
      await closeEarly(common, intake, window);
      rounds.wake();
    },
  };
}

/** Starts to deliver outcomes, if the options say where to. */
export async function startDeliveries(
  { database, log, clock, metrics }: Common,
  keyFile: KeyFile,
  options: ServiceOptions,
  internals: ServiceInternals,
): Promise<Webhook | undefined> {
  if (options.webhook === undefined) return undefined;
  return startWebhook({
    ...{ database, keyFile, log, now: clock.guess, ...pace(internals, options) },
    url: requireWebhook(options.webhook, options.webhookOverHttp),
    timeoutMilliseconds: internals.webhookMilliseconds,
    onDelivered: metrics.delivered,
    onFailed: metrics.undelivered,
  });
}

type KnownHelper = Helper & { readonly url: string; readonly operatorKey: string };

function helperOf(peer: OtherServer | undefined, now: () => number): KnownHelper {
  if (!peer?.url) throw new LetheError("bad-role", "a leader needs the address of its helper");
  const { url, operatorKey } = peer;
  return { ...createHelperClient({ ...peer, url }, now), url, operatorKey };
}

/** Creates tasks, one after another, and opens their first windows. */
function creatingTasks(
  { database, databases, tasks, keyFile, now }: RoundParts,
  { development = false, helper }: { readonly development?: boolean; readonly helper: KnownHelper | undefined },
  { invalidNoise }: ServiceInternals,
  own: Readonly<Address>,
): (task: Task, asked: Readonly<Address>) => Promise<CreatedTask> {
  const inTurn = createTurns();
  const servers = helper ? twoServers(helper) : ONE_SERVER;
  return async (task, asked) => {
    // Devices reach the process that was asked, unless the operator has given another address.
    const url = asked.url ?? own.url ?? asked.listens;
    const parts = { database, tasks, keyFile, servers, url, now: now() };
    const created = await inTurn(() => createTask({ ...parts, now: now() }, asRun(task, development)));
    await openWindows(databases, tasks, keyFile, now(), invalidNoise).catch((error: unknown) => {
      if (!(error instanceof LetheError && error.code === "bad-key-file")) throw error;
      // Rounds go on trying, and the same request again finds the task.
      throw new Unavailable(`the task is stored, but its windows cannot begin: ${error.message}`);
    });
    return created;
  };
}
