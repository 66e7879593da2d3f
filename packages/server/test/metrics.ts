/** How often each route was answered with each status, as /metrics tells. */
export async function requestCounts(service: {
  readonly url: string;
}): Promise<{ method: string; route: string; status: number; count: number }[]> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const lines = text.matchAll(/^lethe_request_seconds_count\{method="(\w+)",route="([^"]*)",status="(\d+)"\} (\d+)$/gm);
  return [...lines].map(([, method = "", route = "", status, count]) => ({
    method,
    route,
    status: Number(status),
    count: Number(count),
  }));
}

/** How many reports the tally has opened and counted. */
export async function countedReports(service: { readonly url: string }): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^lethe_reports_counted_total (\d+)$/m.exec(text)?.[1]);
}

/** How many rounds of the tally have failed. */
export async function failedRounds(service: { readonly url: string }): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^lethe_tally_failures_total (\d+)$/m.exec(text)?.[1]);
}
