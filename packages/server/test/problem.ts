import { PROBLEMS, type Problem, type ProblemCode } from "@lethe/core/message";
import { expect } from "vitest";
import { problem } from "../src/http/schemas.ts";
import type { RawResponse } from "./raw-http.ts";

export const PROBLEM_TYPE: RegExp = /^application\/problem\+json(; charset=utf-8)?$/;

/** The response is this refusal, exactly as the one table has it. */
export async function expectProblem(response: Response | RawResponse, code: ProblemCode): Promise<Problem> {
  const text = typeof response.body === "string" ? response.body : await (response as Response).text();
  const { status, title } = PROBLEMS[code];
  const type = response.headers.get("content-type");
  expect({ status: response.status, type, text }).toEqual({ status, type: expect.stringMatching(PROBLEM_TYPE), text });
  const body = problem.parse(JSON.parse(text));
  expect(body).toEqual({
    type: `urn:lethe:problem:${code}`,
    title,
    status,
    code,
    detail: expect.stringMatching(/^.+$/),
  });
  return body;
}
