/**
 * Starting a process: its options (this file), the database and the clock (`open-database.ts`), the part that holds the
 * keys (`key-holder.ts`), and the admin of a process without keys (`remote-admin.ts`). `service.ts` puts them together.
 * This folder may import every other one.
 */

import type { LetheError } from "@lethe/core/error";
import type { ServiceRole } from "@lethe/core/message";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { OtherServer } from "../between/other-server.ts";
import type { EnrolmentRules } from "../intake/admission.ts";
import type { Databases } from "../storage/databases.ts";
import type { Threads } from "../tally/threads.ts";

/**
 * What a process does. An `intake` takes in what devices send. A `tally` holds the keys, counts, releases, and answers
 * the admin. `all` is both. For tasks of two servers, a `leader` is both but opens only its half of every report, and
 * asks its `helper` about the other.
 */
export type Role = ServiceRole;

/** How to start a process of the service. */
export interface ServiceOptions {
  /** By default `all`; `intake` and `tally` need a database that processes can share. */
  readonly role?: Role;
  /** The folder of the embedded database; give this or `databaseUrl`. */
  readonly data?: string;
  /**
   * A PostgreSQL database, which any number of processes may share; commas separate its hosts. Several databases are
   * separated by spaces: the first has the tasks, and devices are divided among all.
   */
  readonly databaseUrl?: string;
  /** Refuse a database that confirms a commit before a synchronous standby has it on its disk. */
  readonly requireStandby?: boolean;
  /**
   * The file with all secrets. It is outside of the data folder, so that backups of the folder hold no secret. An
   * intake has none.
   */
  readonly keyFile?: string;
  /** An intake that has one answers the admin, too, and lets a tally sign new tasks. */
  readonly adminToken?: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** At a leader or a helper: the other server. */
  readonly peer?: OtherServer;
  /** Where devices reach the service, as manifests say; by default where it listens. */
  readonly url?: string;
  /** Take a device's address from the last entry of X-Forwarded-For: only behind a proxy that writes it. */
  readonly trustProxy?: boolean;
  /**
   * Where every published outcome is posted, signed with the operator key: an https address, or an http address of this
   * machine. Only for processes that hold keys.
   */
  readonly webhook?: string;
  /** Lets the webhook be an http address of another machine: everybody on the way reads what is posted. */
  readonly webhookOverHttp?: boolean;
  readonly log: Logger;
  readonly enrolment?: Partial<EnrolmentRules>;
  /** Threads that open reports and make keys. */
  readonly threads?: number;
  /** How many device keys are made ahead for each window. */
  readonly keysAhead?: number;
  /** Bytes that stay free on the disk of the embedded database; by default 5% of the volume, 24 to 256 MB. */
  readonly leastFreeBytes?: number;
  /** How many seconds the embedded database may take for a statement before the service gives up; by default 30. */
  readonly databaseSeconds?: number;
  /** Called before an embedded database is created, which takes seconds. */
  readonly onCreating?: () => void;
  /** The database of this key file is lost: begin with this one, which is empty. */
  readonly newDatabase?: boolean;
  /** Instead of refusing to start, give up windows whose secret is not in the key file. This cannot be undone. */
  readonly abandonLostWindows?: boolean;
  /** The operator confirms, for this start, that the clock is right, whatever time was stored. */
  readonly acceptClock?: boolean;
  /** The SDK for pages, one ES module. Processes that answer devices serve it at `/lethe.js` and under its hash. */
  readonly sdk?: Uint8Array;
  /** The files of the console by path, such as `/index.html`. Every process serves them, and the first one at `/`. */
  readonly console?: ReadonlyMap<string, Uint8Array>;
  /**
   * In a demonstration: what really happened in finished windows, JSON, which the console shows beside what the service
   * learned. Anybody may read it.
   */
  readonly demonstration?: () => unknown;
  /** If true, releases and the states of windows need the admin token. Manifests stay public, for devices. */
  readonly privateResults?: boolean;
  /** If true, every task runs in windows of seconds. */
  readonly development?: boolean;
  /**
   * Milliseconds since 1970; trusted. By default the machine's clock, which is trusted while it agrees with the time
   * that passes.
   */
  readonly clock?: () => number;
}

/** A process of the service that is running. */
export interface Service {
  /** Where it listens. */
  readonly url: string;
  /** What devices pin. An intake may not know it before the first tally has started. */
  readonly operatorKey: string | undefined;
  /**
   * Resolves, with the reason, if the service can never go on: `bad-database` if the embedded database does not answer
   * any more, `bad-data-folder` if its folder is gone. All requests fail by then. The caller should close the service
   * and end the process.
   */
  readonly broken: Promise<LetheError>;
  /** Accepts no more requests, finishes those under way, and resolves when everything is on disk. */
  close(): Promise<void>;
}

/** Settings that only tests change. */
export interface ServiceInternals {
  /** Draws the noise with which the count of invalid reports begins. */
  readonly invalidNoise: () => number;
  /** The time between two rounds. */
  readonly pollMilliseconds?: number;
  /** How long other processes wait for the reports of one that died. */
  readonly leaseSeconds?: number;
  /** How long a client may leave its answers unread. */
  readonly silenceMilliseconds?: number;
  /** How long the webhook's receiver may take to answer. */
  readonly webhookMilliseconds?: number;
  /** Opens the databases, instead of those of the options. */
  readonly openDatabases?: () => Promise<Databases>;
  /** Starts what opens reports and makes keys, instead of threads. */
  readonly startThreads?: (count: number) => Threads;
  /** Makes the service reachable and returns its address, instead of listening on a socket. */
  readonly listen?: (app: FastifyInstance) => Promise<string>;
}
