import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** What an operator watches. No label ever holds a device id, an address, or anything found by opening a report. */
export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  refused(code: string): void;
  enrolled(): void;
  received(receipt: string): void;
  counted(reports: number): void;
  finished(outcome: string): void;
  text(): Promise<string>;
}

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
  /** Finding a series by its labels takes longer than all the rest. */
  const known = new Map<string, { observe(seconds: number): void }>();
  const refusals = counter("lethe_refusals_total", "Requests refused, by reason", "reason");
  const enrolments = counter("lethe_enrolments_total", "Devices enrolled");
  const reports = counter("lethe_reports_total", "Reports received: stored, or sent again", "receipt");
  const counted = counter("lethe_reports_counted_total", "Reports opened and counted");
  const windows = counter("lethe_windows_total", "Windows finished: released, or not-enough", "outcome");
  return {
    request: (method, route, status, seconds) => {
      const key = `${method} ${route} ${status}`;
      const series = known.get(key) ?? requests.labels({ method, route, status });
      known.set(key, series);
      series.observe(seconds);
    },
    refused: (reason) => refusals.inc({ reason }),
    enrolled: () => enrolments.inc(),
    received: (receipt) => reports.inc({ receipt }),
    counted: (count) => counted.inc(count),
    finished: (outcome) => windows.inc({ outcome }),
    text: () => registry.metrics(),
  };
}
