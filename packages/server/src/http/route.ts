import { LetheError } from "@lethe/core/error";
import type { ProblemCode } from "@lethe/core/message";
import type { z } from "zod";

/** A request whose parameters, type and size were checked. */
interface Asked<Parameters> {
  readonly parameters: Parameters;
  readonly body: Uint8Array;
  /** What follows `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /**
   * Whether the request has the admin token. A wrong one counts as a failed attempt; throws `rate-limited` after too
   * many.
   */
  readonly isAdmin: () => boolean;
  readonly address: string;
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined;
}

/** What an endpoint answers. */
export interface Answered {
  readonly status: number;
  /** JSON text, or bytes. */
  readonly body?: string | Uint8Array;
  /** Of the body, if it is neither JSON nor an octet-stream. */
  readonly type?: string;
  /** Besides those that every answer has, or instead of them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a status means; `type` is the body's, if it is not JSON of the schema. */
interface DescribedAnswer {
  readonly description: string;
  readonly schema?: z.ZodType<unknown>;
  readonly type?: string;
}

/** What a body may be: `bytes` gives the only size it may have, before any of it is read. */
type BodyRule<Parameters> =
  | { readonly type: "application/octet-stream"; readonly bytes: (parameters: Parameters) => number }
  | { readonly type: "application/octet-stream"; readonly most: number }
  | {
      readonly type: "application/json";
      readonly most: number;
      readonly optional?: true;
      readonly schema: z.ZodType<unknown>;
    };

/** One endpoint: what it takes, what it answers, who may ask, and the handler. */
export interface Route<Parameters> {
  readonly method: "GET" | "POST" | "PUT";
  /** As OpenAPI writes it. */
  readonly path: string;
  readonly summary: string;
  /** Whether pages of any origin may ask. */
  readonly anyOrigin?: true;
  /** Whether only the admin may ask. */
  readonly admin?: true;
  /** Whether the description leaves it out. */
  readonly isHidden?: true;
  /** From texts, of the path and the query. */
  readonly parameters: z.ZodType<Parameters>;
  readonly body?: BodyRule<Parameters>;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
  readonly refusals: readonly ProblemCode[];
  /** Before the body is read: throws what can be refused already. */
  readonly before?: (parameters: Parameters) => void;
  readonly handle: (asked: Asked<Parameters>) => Promise<Answered>;
}

/** Defines an endpoint, with types that fit one another. */
export function route<Parameters>(definition: Route<Parameters>): Route<unknown> {
  return definition as unknown as Route<unknown>;
}

/** An answer in JSON. */
export function json(status: number, body: unknown): Answered {
  return { status, body: JSON.stringify(body) };
}

/** The text of a body; throws `bad-encoding` if it is not UTF-8. */
export function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new LetheError("bad-encoding", "the body is not text in UTF-8");
  }
}
