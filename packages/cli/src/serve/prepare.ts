import { resolve } from "node:path";
import type { EnrolmentRules, Role, Service, ServiceOptions } from "@lethe/server";
import type { Command } from "commander";
import { type AdminToken, adminTokenOf } from "../options/admin-token.ts";
import { failure } from "../system/failure.ts";
import { type EnrolmentOptions, enrolmentRules } from "./enrolment-rules.ts";
import { keyFileOf, requireKeyFolder } from "./key-file.ts";
import { type PeerOptions, peerOf } from "./peer.ts";

/** The options of `lethe serve`, as commander parses them. */
export interface ServeOptions extends EnrolmentOptions, PeerOptions {
  readonly role: Role;
  readonly host: string;
  readonly port?: number;
  readonly url?: string;
  readonly data: string;
  readonly keyFile?: string;
  readonly trustProxy?: boolean;
  readonly privateResults?: boolean;
  readonly demonstration?: string;
  readonly webhook?: string;
  readonly webhookOverHttp?: boolean;
  readonly threads?: number;
  readonly keysAhead: number;
  readonly dev?: boolean;
  readonly json?: boolean;
  readonly abandonLostWindows?: true;
  readonly acceptClock?: true;
  readonly newDatabase?: true;
  readonly requireStandby?: true;
  /** In megabytes. */
  readonly leastFree?: number;
  readonly databaseTimeout: number;
}

/** Where a service stores its data and its keys. */
type Place = Pick<ServiceOptions, "data" | "databaseUrl" | "keyFile">;

/** Everything that a service needs besides its options, found and checked. */
export interface Prepared {
  readonly place: Place;
  /** Absent for an intake that answers devices only. */
  readonly adminToken?: AdminToken;
  /** The other of two servers. */
  readonly peer?: ServiceOptions["peer"];
  readonly enrolment: Partial<EnrolmentRules>;
}

/** Checks that the options go together, before anything is created. What does not ends the command with one line. */
export async function prepare(options: ServeOptions, command: Command): Promise<Prepared> {
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
  const adminToken = databaseUrl === undefined ? adminTokenOf(data) : sharedToken(role, data);
  const enrolment = await enrolmentRules(options, databaseUrl !== undefined);
  return { place, ...(adminToken && { adminToken }), ...(peer && { peer }), enrolment };
}

/** The token of processes that share a database. An intake works without one. */
function sharedToken(role: Role, data: string): AdminToken | undefined {
  if (process.env.LETHE_ADMIN_TOKEN !== undefined) return adminTokenOf(data);
  if (role === "intake") return undefined;
  throw failure("the admin token is missing, which all tallies share: set LETHE_ADMIN_TOKEN");
}

/** Stores a new admin token in the data folder of a running service, which has made sure that the folder is its own. */
export async function keepToken({ adminToken }: Prepared, service: Service): Promise<void> {
  try {
    adminToken?.keep();
  } catch (error) {
    await service.close();
    const { code } = error as NodeJS.ErrnoException;
    throw failure(`the admin token cannot be stored in ${adminToken?.source} (${code}): set LETHE_ADMIN_TOKEN`);
  }
}
