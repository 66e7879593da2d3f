import { PROBLEMS, SCHEMAS } from "@lethe/core/message";
import { z } from "zod";
import type { Route } from "./route.ts";
import { problem } from "./schemas.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 description, made from the routes themselves. */
export function describeApi(routes: readonly Route<unknown>[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    if (route.isHidden) continue;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Lethe", version, description: "Telemetry that devices cannot remember: the collection service." },
    paths,
    components: {
      // The last two are texts in other messages, so that what is signed is the bytes.
      schemas: { Problem: schemaOf(problem), Manifest: SCHEMAS.manifest, WindowShare: SCHEMAS.windowShare },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function describeRoute(route: Route<unknown>): Json {
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const { properties = {}, required = [] } = schemaOf(route.parameters, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: inPath.has(name) ? "path" : "query",
    required: required.includes(name),
    schema,
  }));
  return {
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: describeBody(route.body) }),
    ...((route.admin || route.refusals.includes("unauthorized")) && { security: [{ bearer: [] }] }),
    responses: { ...describeAnswers(route), ...describeRefusals(route) },
  };
}

function describeBody(body: NonNullable<Route<unknown>["body"]>): Json {
  const schema = body.type === "application/json" ? schemaOf(body.schema, "input") : {};
  const optional = body.type === "application/json" && body.optional;
  return { required: !optional, content: { [body.type]: { schema } } };
}

function describeAnswers({ answers }: Route<unknown>): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, type }]) => [
      status,
      {
        description,
        ...(schema && { content: { "application/json": { schema: schemaOf(schema) } } }),
        ...(type && { content: { [type]: { schema: { type: "string" } } } }),
      },
    ]),
  );
}

/** Codes that share a status are described together. */
function describeRefusals({ refusals }: Route<unknown>): Json {
  const statuses = [...new Set(refusals.map((code) => PROBLEMS[code].status))].sort();
  const content = { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = refusals.filter((code) => PROBLEMS[code].status === status);
      return [status, { description: codes.map((code) => `${code}: ${PROBLEMS[code].title}`).join("; "), content }];
    }),
  );
}

function schemaOf(schema: z.ZodType<unknown>, io: "input" | "output" = "output"): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Json;
  return rest;
}
