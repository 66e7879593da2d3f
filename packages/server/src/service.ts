import { LetheError } from "@lethe/core/error";
import { noisedInvalidCount } from "@lethe/core/privacy";
import { randomnessFrom } from "@lethe/core/randomness";
import type { FastifyInstance } from "fastify";
import { inOrder } from "./async/in-order.ts";
import { type OtherServer, requireOtherServer } from "./between/other-server.ts";
import { requireNoDevelopmentTask } from "./helper/agreed-task.ts";
import { requireSignedByLeader } from "./helper/leader-tasks.ts";
import { createApi } from "./http/api.ts";
import { closeHttp } from "./http/close-http.ts";
import { limitConnections } from "./http/connections.ts";
import { consoleFileRoutes, consoleRoutes } from "./http/console-routes.ts";
import { helperRoute } from "./http/helper-route.ts";
import { liveRoute } from "./http/live-routes.ts";
import { createMetrics } from "./http/metrics.ts";
import { describeApi } from "./http/openapi.ts";
import { addOperations } from "./http/operations.ts";
import { helperReleaseRoute, resultsAccess } from "./http/release-routes.ts";
import { createAdminCheck } from "./http/request-checks.ts";
import { sdkRoutes } from "./http/sdk-routes.ts";
import { createHttp } from "./http/server.ts";
import { type Intake, startIntake } from "./intake/intake.ts";
import { requireToken } from "./intake/token.ts";
import { createHealthCheck } from "./leader/health.ts";
import { requireSameHelper } from "./leader/same-helper.ts";
import { requireWindows } from "./release/give-up.ts";
import type { Address } from "./start/address.ts";
import {
  type Owner,
  type RunningKeyHolder,
  requireOwner,
  startDeliveries,
  startKeyHolder,
} from "./start/key-holder.ts";
import { openClock, openDatabases, whyNotReady } from "./start/open-database.ts";
import type { Role, Service, ServiceInternals, ServiceOptions } from "./start/options.ts";
import { type Common, remoteAdmin } from "./start/remote-admin.ts";
import { packageVersion } from "./start/version.ts";
import type { Database } from "./storage/database.ts";
import type { Databases } from "./storage/databases.ts";
import { findOperator } from "./storage/operator.ts";
import { createTaskRegistry } from "./storage/tasks.ts";
import type { KeyFile } from "./tally/key-file.ts";
import { openKeys, requireSignedBy } from "./tally/open-keys.ts";
import { requireWebhook } from "./webhook/address.ts";

export type { Role, Service, ServiceInternals, ServiceOptions } from "./start/options.ts";

const random = randomnessFrom(globalThis.crypto);
const INTERNALS: ServiceInternals = { invalidNoise: () => noisedInvalidCount(0, random) };

const NOT_FOUND: Readonly<Record<Role, string>> = {
  all: "there is nothing at this path",
  intake: "there is nothing at this path: this process is an intake; the admin asks a tally",
  tally: "there is nothing at this path: this process is a tally; devices ask an intake",
  leader: "there is nothing at this path",
  helper: "there is nothing at this path: this process is a helper; devices ask its leader",
};

/** The options, after what can be checked without a database. */
interface Settings {
  readonly options: ServiceOptions;
  readonly role: Role;
  /** Undefined at an intake. */
  readonly owner: Owner | undefined;
  /** Undefined unless this is a leader or a helper. */
  readonly otherServer: OtherServer | undefined;
}

/** The parts of a running process, as far as its role has them. */
interface Running {
  readonly common: Common;
  readonly keyFile: KeyFile | undefined;
  readonly intake: Intake | undefined;
  readonly keyHolder: RunningKeyHolder | undefined;
  readonly address: Address;
}

/** What is to be done when the service ends, last first. */
type Ends = (() => Promise<void>)[];

/** Starts a process of the service: intake, tally and release, or a part of them. */
export async function startService(options: ServiceOptions, internals: ServiceInternals = INTERNALS): Promise<Service> {
  const settings = checked(options);
  const databases = await (internals.openDatabases?.() ?? openDatabases(options, settings.role));
  const { first: database } = databases;
  const ends: Ends = [databases.close];
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => {
    database.guard?.hurry();
    ended ??= inOrder(ends.toReversed());
    return ended;
  };
  try {
    const running = await startParts(settings, internals, databases, ends);
    const app = await createApp(settings, internals, running);
    ends.push(() => closeHttp(app));
    const url = await (internals.listen ?? listening(options))(app);
    running.address.listens = url;
    const broken = database.guard?.broken ?? new Promise<never>(() => undefined);
    void broken.then(({ code, message: reason }) => options.log.fatal({ code, reason }, "the service cannot go on"));
    return { url, operatorKey: await findOperator(database), broken, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function listening({ host, port, log }: ServiceOptions): NonNullable<ServiceInternals["listen"]> {
  return async (app) => {
    const url = await app.listen({ host, port });
    limitConnections(app.server, log);
    return url;
  };
}

function checked(options: ServiceOptions): Settings {
  const { role = "all", enrolment, adminToken, peer } = options;
  for (const token of enrolment?.tokens ?? []) requireToken("an enrolment token", token);
  if (adminToken !== undefined) requireToken("the admin token", adminToken);
  const owner = role === "intake" ? undefined : requireOwner(options);
  if (options.webhook !== undefined) {
    requireWebhook(options.webhook, options.webhookOverHttp);
    if (!owner) throw new LetheError("bad-role", "an intake has no webhook: it holds no key to sign outcomes with");
  }
  const isOneOfTwo = role === "leader" || role === "helper";
  return {
    ...{ options, role, owner },
    otherServer: owner && isOneOfTwo ? requireOtherServer(peer, role, owner.keyFile) : undefined,
  };
}

/** Opens clock, keys and tasks, and starts what runs by itself. */
async function startParts(
  settings: Settings,
  internals: ServiceInternals,
  databases: Databases,
  ends: Ends,
): Promise<Running> {
  const { options, role, owner } = settings;
  const { first: database } = databases;
  const clock = await openClock(options, database);
  ends.push(clock.stop);
  const keyFile =
    owner &&
    (await openKeys(database, owner.keyFile, {
      severalProcesses: options.databaseUrl !== undefined,
      isNewDatabase: options.newDatabase ?? false,
    }));
  if (keyFile) ends.push(async () => keyFile.close());
  const tasks = await openTasks(settings, database, keyFile);
  const common: Common = { database, databases, tasks, log: options.log, clock, metrics: createMetrics() };
  common.metrics.watchClock(() => clock.doubt() !== undefined);
  if (database.guard) common.metrics.watchDisk(database.guard.room);
  // First, so that windows that are given up at this start are delivered as lost.
  const deliveries = keyFile && (await startDeliveries(common, keyFile, options, internals));
  if (deliveries) ends.push(deliveries.stop);
  if (keyFile) await requireWindows({ ...common, now: clock.guess }, keyFile, options.abandonLostWindows ?? false);
  const takesReports = role !== "tally" && role !== "helper";
  const intake = takesReports
    ? startIntake({ ...common, ...options, now: clock.guess, wake: () => keyHolder?.wake() })
    : undefined;
  if (intake) ends.push(intake.stop);
  const address: Address = { url: options.url ?? null, listens: "" };
  const keyHolder =
    keyFile && owner && startKeyHolder(common, keyFile, { ...options, ...owner }, internals, intake, address);
  if (keyHolder) ends.push(keyHolder.stop);
  return { common, keyFile, intake, keyHolder, address };
}

/** The tasks in the database, which must belong to this operator, and to the other server if there is one. */
async function openTasks(
  { options, role, otherServer }: Settings,
  database: Database,
  keyFile: KeyFile | undefined,
): Promise<Common["tasks"]> {
  const requireSigned =
    otherServer && role === "helper"
      ? requireSignedByLeader(otherServer)
      : keyFile && requireSignedBy(keyFile.operatorKey);
  const tasks = createTaskRegistry(database, requireSigned);
  await tasks.refresh();
  if (otherServer && role === "leader") requireSameHelper(tasks, otherServer);
  if (role === "helper" && !options.development) await requireNoDevelopmentTask(database, tasks);
  return tasks;
}

/** The HTTP server, with the endpoints of this role. */
async function createApp(
  { options, role, otherServer }: Settings,
  { silenceMilliseconds }: ServiceInternals,
  { common, keyFile, intake, keyHolder, address }: Running,
): Promise<FastifyInstance> {
  const { database, log, clock, tasks, metrics } = common;
  const { adminToken, demonstration, privateResults = false } = options;
  const lastError = (): Error | undefined => clock.doubt() ?? intake?.lastError() ?? keyHolder?.lastError();
  const ready = (): Promise<string | undefined> => whyNotReady(database, lastError);
  const admin = keyHolder ?? (adminToken !== undefined ? remoteAdmin(common, adminToken, intake, address) : undefined);
  const routes = createApi({ ...common, privateResults, ...(intake && { intake }), ...(admin && { admin }) });
  if (keyHolder && keyFile && otherServer && role === "helper") {
    const { threads } = keyHolder;
    const isDevelopment = options.development ?? false;
    routes.push(helperRoute({ ...common, now: clock.now, keyFile, otherServer, threads, isDevelopment }));
  }
  const about = { ...common, role, version: packageVersion() };
  routes.push(...consoleRoutes({ ...about, privateResults, demonstration }));
  const helperUrl = role === "leader" ? otherServer?.url : undefined;
  if (helperUrl !== undefined) routes.push(helperReleaseRoute(helperUrl, resultsAccess(privateResults)));
  if (admin) {
    const helperHealth = helperUrl === undefined ? undefined : createHealthCheck(helperUrl);
    routes.push(liveRoute({ ...about, whyNotReady: ready, helperHealth }));
  }
  if (options.console) routes.push(...consoleFileRoutes(options.console));
  if (intake && options.sdk) routes.push(...(await sdkRoutes(database, log, options.sdk)));
  const adminCheck = createAdminCheck(adminToken, clock.guess);
  const app = createHttp({
    ...{ log, metrics, routes, admin: adminCheck },
    notFound: NOT_FOUND[role],
    trustProxy: options.trustProxy ?? false,
    onRefused: intake?.refused ?? (() => undefined),
    lookForTask: tasks.lookFor,
    ...(silenceMilliseconds !== undefined && { silenceMilliseconds }),
  });
  addOperations(app, {
    ...{ metrics, whyNotReady: ready, description: describeApi(routes, about.version) },
    mayReadResults: (request) => !privateResults || adminCheck.isAdmin(request),
  });
  return app;
}
