import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeReport, reportBytes } from "@lethe/core/message";
import { allOf } from "../dist/async/all-of.js";
import { type KnownTask, reportPath, uploadHeaders } from "./device.ts";

const PAUSE_MS = 1000;
const PATIENCE_MS = 2000;
const GAVE_UP = "gave up";

/** Uploads of devices that do not exist, which only the database can tell from others. */
export interface Flood {
  /** How often each answer came: its status, and what it says. */
  readonly answers: ReadonlyMap<string, number>;
  /** Resolves when every request was answered. */
  stop(): Promise<void>;
}

/**
 * Keeps this many uploads in progress, each on its own connection. One that is not answered for 2 s gives up, and asks
 * again at once on another connection; one that is refused with 503 waits for a second.
 */
export function startFlood(
  service: { readonly url: string },
  task: KnownTask,
  window: number,
  connections: number,
): Flood {
  const answers = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  const header = encodeReport(task.hash, []);
  const body = Buffer.concat([header, randomBytes(reportBytes(task.layout) - header.length)]);
  let stopping = false;

  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const path = reportPath({ task, window, id: randomBytes(16) });
      const headers = { ...uploadHeaders({ token: "x" }), "content-length": body.length };
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const asked = request(service.url + path, { method: "PUT", agent, headers, signal }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve(`${response.statusCode} ${(JSON.parse(text) as { detail: string }).detail}`));
      });
      asked.on("error", (error) => resolve(signal.aborted ? GAVE_UP : error.message));
      asked.end(body);
    });

  const work = async (): Promise<void> => {
    while (!stopping) {
      const answer = await ask();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (answer.startsWith("503")) await sleep(PAUSE_MS);
    }
  };
  const done = allOf(Array.from({ length: connections }, work));
  return {
    answers,
    stop: async () => {
      stopping = true;
      await done;
      agent.destroy();
    },
  };
}
