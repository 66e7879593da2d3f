import type { Lost, Problem, Release, ReleaseOrWithheld, Task, WindowStatus, Withheld } from "@lethe/core/message";
import { DEFAULT_HIDES, MOST_TICKS } from "@lethe/core/statistic";
import { z } from "zod";
import { OPERATIONS, type Operation } from "../between/operation.ts";

/** The shapes of what goes over HTTP, for checking parameters and for the OpenAPI description. */
const whole = z.int().min(0);
const bytes = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/)
  .describe("base64url");

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

/** Parameters of paths. */
export const ofTask: z.ZodObject<{ task: typeof taskName }, z.core.$strict> = z.strictObject({ task: taskName });
export const ofWindow: z.ZodType<{ task: string; window: number }> = z.strictObject({
  task: taskName,
  window: windowNumber,
});
export const ofVersion: z.ZodType<{ task: string; version: number }> = z.strictObject({
  task: taskName,
  version: windowNumber,
});
export const ofDevice: z.ZodType<{ task: string; window: number; device: string }> = z.strictObject({
  task: taskName,
  window: windowNumber,
  device: deviceId,
});

export const ofPeer: z.ZodType<{ operation: Operation; task: string; window: number }> = z.strictObject({
  operation: z.enum(OPERATIONS),
  task: taskName,
  window: windowNumber,
});

const scheme = z.enum(["lattice", "elgamal"]);
const named = {
  name: taskName,
  scheme: scheme.exactOptional().describe("if absent the task's, else lattice for an occurrence, elgamal otherwise"),
};
const eventsPerTick = z
  .int()
  .min(1)
  .exactOptional()
  .describe(
    "how many events between two writes are counted; lattice histograms and means need it, others have no limit",
  );
const edges = z.array(whole).min(2);
const mechanism = z.enum(["kary", "unary", "per-bucket"]).exactOptional();
const noise = z.literal("servers").describe("of two servers");

/** A task file. Which fields go together `parseTask` says. */
export const task: z.ZodType<unknown> = z.strictObject({
  version: z.int().min(1),
  task: taskName,
  tickSeconds: z.int().min(1),
  ticks: z.int().min(1),
  graceSeconds: whole,
  mode: z.enum(["one-server", "two-server"]),
  scheme: scheme.exactOptional().describe("of all metrics; if absent, each has its own"),
  hides: whole.max(MOST_TICKS).default(DEFAULT_HIDES).describe("writes that a window allows besides those of ticks"),
  minimumDevices: z.int().min(1),
  missing: z.number().min(0).lt(1).default(0),
  metrics: z
    .array(
      z.union([
        z.strictObject({ ...named, statistic: z.literal("occurrence"), localEpsilon: z.number() }),
        z.strictObject({ ...named, statistic: z.literal("occurrence"), noise, sigma: z.number() }),
        z.strictObject({
          ...named,
          statistic: z.literal("histogram"),
          edges,
          localEpsilon: z.number(),
          eventsPerTick,
          mechanism,
        }),
        z.strictObject({ ...named, statistic: z.literal("histogram"), noise, edges, sigma: z.number(), eventsPerTick }),
        z.strictObject({
          ...named,
          statistic: z.literal("mean"),
          limit: z.int().min(1),
          sigma: z.number(),
          eventsPerTick,
        }),
      ]),
    )
    .min(1),
}) satisfies z.ZodType<Task>;

export const signedManifest: z.ZodType<unknown> = z.strictObject({
  manifest: z.string().describe("the manifest's text, JSON; the signature covers its UTF-8 bytes"),
  signature: bytes.describe("Ed25519, base64url"),
});

export const enrolment: z.ZodType<unknown> = z.strictObject({
  device: deviceId,
  uploadToken: z.string(),
  manifestHash: bytes,
  keys: z.array(z.strictObject({ role: z.enum(["tally", "leader", "helper"]), publicKeys: bytes, signature: bytes })),
});

const refused = z.record(z.string(), whole).describe("requests refused, by reason");
const figure = {
  estimate: z.number(),
  standardError: z.number(),
  interval: z.tuple([z.number(), z.number()]).describe("95%"),
  consistent: z.number(),
};
const guarantee = {
  name: taskName,
  mechanism: z.string(),
  localEpsilon: z.number(),
  epsilon: z.number(),
  delta: z.number(),
  bound: z.enum(["exact", "upper"]),
};
const outcome = {
  task: taskName,
  version: whole,
  window: whole,
  from: whole,
  to: whole,
  at: whole,
  enrolled: whole,
  received: whole,
  refused,
};
const released = z.strictObject({
  status: z.literal("released"),
  ...outcome,
  invalid: z.strictObject({ estimate: z.int(), standardError: z.number(), epsilon: z.number() }),
  metrics: z.array(
    z.discriminatedUnion("statistic", [
      z.strictObject({ ...guarantee, statistic: z.enum(["occurrence", "mean"]), ...figure }),
      z.strictObject({
        ...guarantee,
        statistic: z.literal("histogram"),
        buckets: z.array(z.strictObject({ bucket: z.string(), ...figure })),
      }),
    ]),
  ),
  privacy: z.strictObject({
    local: z.strictObject({ sum: z.number().exactOptional(), epsilon: z.number(), delta: z.number() }),
    aggregate: z.strictObject({ epsilon: z.number(), delta: z.number(), bound: z.literal("upper") }),
    hijackedEpsilon: z.number().nullable(),
    honest: z.int(),
  }),
}) satisfies z.ZodType<Release>;
const withheld = z.strictObject({
  status: z.literal("not-enough"),
  missing: whole.describe("how many more devices it would have taken"),
  ...outcome,
}) satisfies z.ZodType<Withheld>;

const lost = z.strictObject({ status: z.literal("lost"), ...outcome }) satisfies z.ZodType<Lost>;

export const release: z.ZodType<ReleaseOrWithheld> = z.discriminatedUnion("status", [released, withheld, lost]);
export const releases: z.ZodType<unknown> = z.strictObject({ releases: z.array(release) });

export const windowStatus: z.ZodType<WindowStatus> = z.strictObject({
  task: taskName,
  version: whole,
  window: whole,
  state: z.enum(["not-open", "open", "grace", "closed", "released", "not-enough", "lost"]),
  from: whole,
  to: whole,
  closes: whole,
  enrolled: whole,
  received: whole,
  minimumDevices: whole,
  refused,
});

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

export const problem: z.ZodType<Problem> = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: whole,
  code: z.string() as unknown as z.ZodType<Problem["code"]>,
  detail: z.string(),
});
