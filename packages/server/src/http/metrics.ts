import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { within } from "../async/within.ts";
import type { Receipt } from "../intake/upload.ts";
import type { Backlog } from "../storage/backlog.ts";
import type { ReleasedGauges } from "./released-gauges.ts";

/**
 * What an operator watches. No label ever holds a device id or an address, and nothing that was found by opening a
 * report is in here but figures that are released.
 */
export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  refused(code: string): void;
  enrolled(): void;
  received(receipt: Receipt): void;
  counted(reports: number): void;
  finished(outcome: string): void;
  /** A round succeeded. */
  looked(): void;
  /** A round failed. */
  failed(): void;
  /** The webhook's receiver took an outcome. */
  delivered(): void;
  /** The webhook's receiver did not take an outcome. */
  undelivered(): void;
  /** From now on the metrics include whether the clock is in doubt. */
  watchClock(isInDoubt: () => boolean): void;
  /** From now on the metrics include the backlog at the time of the scrape. */
  watch(backlog: () => Promise<Backlog>): void;
  /** From now on the metrics include the free space on the disk of an embedded database. */
  watchDisk(room: () => { readonly freeBytes: number; readonly isLow: boolean }): void;
  /** From now on the metrics include the figures of the newest releases. */
  watchReleases(released: ReleasedGauges): void;
  /** For Prometheus; with the figures of releases, or without. */
  text(parts: { readonly released: boolean }): Promise<string>;
}

/** Frequent scrapes cost the database little. */
const BACKLOG_AGE_MS = 1000;
/** If the database does not answer by then, its figures are missing. */
const BACKLOG_LIMIT_MS = 5000;

/** All metrics of a process, in a registry of this process alone. */
export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const requests = new Histogram({
    name: "lethe_request_seconds",
    help: "Requests by route and status, and how long they took",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  /** By route, method and status: finding a series by its labels takes longer than all the rest. */
  const known = new Map<string, Map<string, { observe(seconds: number): void }[]>>();
  const refusals = counter("lethe_refusals_total", "Requests refused, by reason", "reason");
  const enrolments = counter("lethe_enrolments_total", "Devices enrolled");
  const reports = counter("lethe_reports_total", "Reports received: stored, or sent again", "receipt");
  const received = { stored: reports.labels("stored"), again: reports.labels("again") };
  const counted = counter("lethe_reports_counted_total", "Reports opened and counted");
  const windows = counter("lethe_windows_total", "Windows finished: released, not-enough, or lost", "outcome");
  let tally: TallyGauges | undefined;
  let released: ReleasedGauges | undefined;
  let room = (): { readonly freeBytes: number; readonly isLow: boolean } => ({ freeBytes: Number.NaN, isLow: false });
  const failures = counter("lethe_tally_failures_total", "Times that the tally looked around and something failed");
  const deliveries = counter("lethe_webhook_deliveries_total", "Outcomes that the webhook's receiver took");
  const undelivered = counter("lethe_webhook_failures_total", "Attempts that the webhook's receiver did not take");
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const free = gauge("lethe_disk_free_bytes", "What is free on the disk of an embedded database");
  const low = gauge("lethe_disk_low", "1 while so little is free that nothing new is stored");
  return {
    request: (method, route, status, seconds) => {
      const ofRoute = known.get(route) ?? new Map<string, { observe(seconds: number): void }[]>();
      const ofMethod = ofRoute.get(method) ?? [];
      const series = ofMethod[status] ?? requests.labels({ method, route, status });
      ofMethod[status] = series;
      known.set(route, ofRoute.set(method, ofMethod));
      series.observe(seconds);
    },
    refused: (reason) => refusals.inc({ reason }),
    enrolled: () => enrolments.inc(),
    received: (receipt) => received[receipt].inc(),
    counted: (count) => counted.inc(count),
    finished: (outcome) => windows.inc({ outcome }),
    looked: () => tally?.looked(),
    failed: () => failures.inc(),
    delivered: () => deliveries.inc(),
    undelivered: () => undelivered.inc(),
    watchClock: (isInDoubt) => {
      new Gauge({
        name: "lethe_clock_in_doubt",
        help: "1 while the clock is in doubt, and nothing is closed, released or erased",
        registers,
        collect() {
          this.set(isInDoubt() ? 1 : 0);
        },
      });
    },
    watch: (backlog) => {
      tally = tallyGauges(gauge, backlog);
    },
    watchDisk: (look) => {
      room = look;
    },
    watchReleases: (gauges) => {
      released = gauges;
    },
    text: async (parts) => {
      const { freeBytes, isLow } = room();
      free.set(freeBytes);
      low.set(isLow ? 1 : 0);
      // Both at once, so that a scrape never waits longer than the one limit.
      const [figures = ""] = await Promise.all([
        parts.released ? released?.text(BACKLOG_LIMIT_MS) : undefined,
        tally?.measure(),
      ]);
      return `${await registry.metrics()}${figures}`;
    },
  };
}

/** The gauges of a process that holds keys. */
interface TallyGauges {
  looked(): void;
  /** Measures the backlog, at most once per second. */
  measure(): Promise<void>;
}

function tallyGauges(gauge: (name: string, help: string) => Gauge, backlog: () => Promise<Backlog>): TallyGauges {
  const lastLook = gauge(
    "lethe_tally_last_look_seconds",
    "When the tally last looked around and all went well, Unix time",
  );
  lastLook.setToCurrentTime();
  const gauges: readonly [keyof Backlog, Gauge][] = [
    ["reports", gauge("lethe_reports_waiting", "Reports stored and not counted yet")],
    ["keys", gauge("lethe_keys_ready", "Device keys that lie ready, in the window that has fewest")],
    ["windows", gauge("lethe_windows_overdue", "Windows past their closing time and not released")],
    ["deliveries", gauge("lethe_webhook_waiting", "Outcomes published and not delivered to the webhook")],
    ["dropped", gauge("lethe_webhook_dropped", "Outcomes dropped because too many waited for the webhook")],
  ];
  let measuredAt = Number.NEGATIVE_INFINITY;
  return {
    looked: () => lastLook.setToCurrentTime(),
    measure: async () => {
      if (performance.now() - measuredAt <= BACKLOG_AGE_MS) return;
      measuredAt = performance.now();
      const found = await within(BACKLOG_LIMIT_MS, backlog()).catch(() => undefined);
      for (const [name, series] of gauges) series.set(found?.[name] ?? Number.NaN);
    },
  };
}
