import type { ServiceInfo } from "./view.ts";

/** What the service says about itself. */
export async function fetchConsole(server: string, token: string | undefined): Promise<ServiceInfo> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await (await fetch(`${server}/v1/console`, { headers })).json()) as ServiceInfo;
}
