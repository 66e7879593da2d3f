/**
 * Posts every published outcome to the operator's webhook, signed, at least once. The queue is in the database
 * (`storage/deliveries.ts`), so neither a kill nor a receiver that is away loses one. This file takes outcomes off the
 * queue, `post.ts` sends one, `signature.ts` says what is signed, `address.ts` which addresses are allowed. Counting and
 * releasing never wait for any of this. This folder may import `rounds`, `tally`, `storage`, `log` and `async`. Start
 * reading here.
 */

import type { Logger } from "pino";
import { createNews } from "../log/news.ts";
import { type Rounds, startRounds } from "../rounds/rounds.ts";
import type { Database } from "../storage/database.ts";
import {
  type Delivery,
  postponeDelivery,
  removeDelivery,
  takeDelivery,
  wantDeliveries,
} from "../storage/deliveries.ts";
import type { KeyFile } from "../tally/key-file.ts";
import { post } from "./post.ts";
import { signedHeaders } from "./signature.ts";

/** What delivering needs. */
export interface WebhookParts {
  readonly database: Database;
  readonly keyFile: Pick<KeyFile, "signingKey">;
  readonly log: Logger;
  /** Unix seconds, for the timestamps of deliveries. */
  readonly now: () => number;
  /** Where to post; from `requireWebhook`. */
  readonly url: URL;
  /** How long an outcome is this process's after an attempt must have ended. */
  readonly leaseSeconds: number;
  readonly pollMilliseconds: number;
  /** How long the receiver may take to answer; by default 10 s. */
  readonly timeoutMilliseconds?: number | undefined;
  readonly onDelivered: () => void;
  readonly onFailed: () => void;
}

/** The deliveries of a running process. */
export type Webhook = Pick<Rounds, "stop">;

const TIMEOUT_MS = 10_000;
const LONGEST_DELAY_SECONDS = 600;
const RENEW_MS = 3_600_000;

/**
 * How long to wait after so many attempts: 1 s, 2 s, 4 s, at most 10 minutes; of that a random share between a half and
 * all of it, so that many outcomes do not come back at the same moment. `random` is from 0 to 1.
 */
export function delayAfter(attempts: number, random: number): number {
  return Math.min(2 ** (attempts - 1), LONGEST_DELAY_SECONDS) * (0.5 + random / 2);
}

/** Delivers outcomes until it is stopped, which cuts off an attempt under way: another process or start repeats it. */
export async function startWebhook(parts: WebhookParts): Promise<Webhook> {
  await wantDeliveries(parts.database);
  let renewedAt = performance.now();
  const stopping = new AbortController();
  const report = createReport(parts);
  const rounds = startRounds(
    {
      log: parts.log,
      what: "webhook",
      pollMilliseconds: parts.pollMilliseconds,
      onLooked: () => undefined,
      onFailed: () => undefined,
    },
    async (isStopping) => {
      if (performance.now() - renewedAt > RENEW_MS) {
        await wantDeliveries(parts.database);
        renewedAt = performance.now();
      }
      return deliverAll(parts, report, stopping.signal, isStopping);
    },
  );
  return {
    stop: () => {
      stopping.abort();
      return rounds.stop();
    },
  };
}

/**
 * Attempts the outcomes that are due, one after another, until one fails: a receiver that is away gets one attempt per
 * round, however many outcomes wait. Returns false: the next round waits for its time.
 */
async function deliverAll(
  { database, keyFile, now, url, leaseSeconds, timeoutMilliseconds = TIMEOUT_MS }: WebhookParts,
  report: (delivery: Delivery, failure: string | undefined) => void,
  stopped: AbortSignal,
  isStopping: () => boolean,
): Promise<boolean> {
  while (!isStopping()) {
    const delivery = await takeDelivery(database, timeoutMilliseconds / 1000 + leaseSeconds);
    if (!delivery) return false;
    // If the database lost an outcome after the receiver has it, the window would be released again, with other noise.
    await database.persist();
    const body = Buffer.from(delivery.document);
    const headers = signedHeaders(keyFile.signingKey, { id: delivery.id, at: Math.floor(now()), body });
    const failure = await post(
      url,
      headers,
      body,
      AbortSignal.any([stopped, AbortSignal.timeout(timeoutMilliseconds)]),
    );
    if (failure === undefined) await removeDelivery(database, delivery);
    else await postponeDelivery(database, delivery, delayAfter(delivery.attempts, Math.random()));
    // An attempt that the end of the process cut off says nothing about the receiver.
    if (failure === undefined || !isStopping()) report(delivery, failure);
    if (failure !== undefined) return false;
  }
  return false;
}

/** Counts attempts, and logs a failure that lasts once, then every ten minutes, and that it is over. */
function createReport({
  log,
  url,
  onDelivered,
  onFailed,
}: WebhookParts): (delivery: Delivery, failure: string | undefined) => void {
  const news = createNews();
  // The rest of the address may hold a secret.
  const { origin } = url;
  return ({ id: delivery, task, window, attempts }, reason) => {
    if (reason === undefined) {
      onDelivered();
      if (news.over()) log.info({ origin }, "the webhook takes outcomes again");
      log.debug({ origin, delivery, task, window, attempts }, "outcome delivered");
      return;
    }
    onFailed();
    if (news.isNews(reason)) {
      log.warn({ origin, delivery, task, window, attempts, reason }, "outcome not delivered, trying again");
    }
  };
}
