import { LetheError } from "@lethe/core/error";
import { type LeaderRequest, openRequest, requireSameTime, sealAnswer, sealRefusal } from "../between/envelope.ts";
import type { Operation } from "../between/operation.ts";
import { ClockInDoubt } from "../clock/doubt.ts";
import { ANSWERS, type HelperParts } from "../helper/helper.ts";
import { createNews } from "../log/news.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** At least twice as much as the longest job of a leader. */
const MOST_BYTES = 4_000_000;

/**
 * The endpoint of a helper, for its leader. Answers and refusals are authenticated with the secret that both share, so
 * both are bytes with status 200.
 */
export function helperRoute(parts: HelperParts): Route<unknown> {
  const { secret } = parts.otherServer;
  const news = createNews();
  const note = (operation: Operation, task: string, window: number, { code, message: reason }: LetheError): void => {
    // A client without the secret may be anybody, and may ask for anything.
    const trouble = code === "unauthorized" ? code : `${operation} ${task} ${code} ${reason}`;
    if (news.isNews(trouble)) parts.log.warn({ operation, task, window, code, reason }, "refused the leader");
  };
  return route({
    method: "POST",
    path: "/v1/peer/{operation}/{task}/{window}",
    summary: "What a leader asks its helper; of a task the last part is its version",
    parameters: schemas.ofPeer,
    body: { type: "application/octet-stream", most: MOST_BYTES },
    answers: { 200: { description: "an answer or a refusal, authenticated" } },
    refusals: ["bad-encoding", "unauthorized", "wrong-size", "wrong-type"],
    // Finishing a window takes little room, and makes some.
    before: ({ operation }) => {
      if (operation !== "finish") parts.database.guard?.requireRoom();
    },
    handle: async ({ parameters: { operation, task, window }, body }) => {
      let request: LeaderRequest | undefined;
      try {
        request = openRequest(secret, `${operation} ${task} ${window}`, body);
        requireSameTime(request, parts.now());
        const answer = await ANSWERS[operation](parts, task, window, request.payload);
        if (news.over(`${operation} ${task} `)) parts.log.info({ operation, task }, "answers the leader again");
        return { status: 200, body: sealAnswer(secret, request.mac, answer) };
      } catch (thrown) {
        // The leader's operator reads why it waits.
        const error =
          thrown instanceof ClockInDoubt ? new LetheError(thrown.code, `at the helper ${thrown.message}`) : thrown;
        if (!(error instanceof LetheError)) throw error;
        note(operation, task, window, error);
        // A client without the secret gets a plain refusal.
        if (!request) throw error;
        return { status: 200, body: sealRefusal(secret, request.mac, error) };
      }
    },
  });
}
