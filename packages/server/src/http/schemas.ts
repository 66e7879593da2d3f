import {
  type Operations,
  type Problem,
  type ReleaseOrWithheld,
  SCHEMAS,
  type ServiceInfo,
  type WindowStatus,
} from "@lethe/core/message";
import type { SignedShare } from "@lethe/core/two-server";
import { z } from "zod";
import { OPERATIONS, type Operation } from "../between/operation.ts";

/*
 * The shapes of what goes over HTTP, for checking parameters and for the OpenAPI description. Tasks, manifests, releases and whatever else
 * core reads or writes are described in core, once; only what this service alone knows is listed here.
 */

const whole = z.int().min(0);
/** The name of a task in a path. */
export const taskName: z.ZodType<string> = z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/);
/** Decimal, without leading zeros; ten digits are enough for windows of a second. */
export const windowNumber: z.ZodType<number, string> = z
  .string()
  .regex(/^(0|[1-9]\d{0,9})$/)
  .transform(Number);
const deviceId: z.ZodType<string> = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22}$/)
  .describe("16 bytes in base64url");

/** The parameters of paths that name a task. */
export const ofTask: z.ZodObject<{ task: typeof taskName }, z.core.$strict> = z.strictObject({ task: taskName });
/** Of paths that name a window. */
export const ofWindow: z.ZodType<{ task: string; window: number }> = z.strictObject({
  task: taskName,
  window: windowNumber,
});
/** Of paths that name a version of a task. */
export const ofVersion: z.ZodType<{ task: string; version: number }> = z.strictObject({
  task: taskName,
  version: windowNumber,
});
/** Of paths that name a device. */
export const ofDevice: z.ZodType<{ task: string; window: number; device: string }> = z.strictObject({
  task: taskName,
  window: windowNumber,
  device: deviceId,
});

/** Of what servers ask each other. */
export const ofPeer: z.ZodType<{ operation: Operation; task: string; window: number }> = z.strictObject({
  operation: z.enum(OPERATIONS),
  task: taskName,
  window: windowNumber,
});

/** A shape from core's description of it: the one by which core reads and checks the message. */
function described<T>(name: keyof typeof SCHEMAS): z.ZodType<T> {
  return z.fromJSONSchema(SCHEMAS[name] as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType<T>;
}

/** A task file. Which fields go together `parseTask` says. */
export const task: z.ZodType<unknown> = described("task");
/** A manifest as it is sent: its text, and the signature over it. */
export const signedManifest: z.ZodType<unknown> = described("signedManifest");
/** The answer to a device that enrols. */
export const enrolment: z.ZodType<unknown> = described("enrolment");
/** What a service publishes of a window that is over: a release, or why there is none, or one server's share of two. */
export const published: z.ZodType<ReleaseOrWithheld | SignedShare> = described("published");
/** What became of a window of one server. */
export const release: z.ZodType<ReleaseOrWithheld> = described("release");
/** Several of them. */
export const releases: z.ZodType<unknown> = z.strictObject({ releases: z.array(published) });
/** How far a window is. */
export const windowStatus: z.ZodType<WindowStatus> = described("windowStatus");

/** All tasks of a service, for its operator. */
export const tasks: z.ZodType<unknown> = z.strictObject({
  tasks: z.array(
    z.strictObject({
      task: taskName,
      operatorKey: z.string(),
      windowSeconds: whole,
      window: whole.describe("the running one"),
      versions: z.array(z.strictObject({ version: whole, fromWindow: whole, metrics: whole })),
    }),
  ),
  agreed: z
    .array(z.strictObject({ task: taskName, version: whole }))
    .exactOptional()
    .describe("of a helper: what its leader may make and has not"),
});

/** What the console asks first. */
export const console: z.ZodType<ServiceInfo> = described("serviceInfo");
/** What a live view of the service shows. */
export const operations: z.ZodType<Operations> = described("operations");

/** A refusal (RFC 9457). */
export const problem: z.ZodType<Problem> = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: whole,
  code: z.string() as unknown as z.ZodType<Problem["code"]>,
  detail: z.string(),
});
