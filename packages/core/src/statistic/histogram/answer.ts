import { drawKary } from "../../privacy/kary-response.ts";
import { drawResponse } from "../../privacy/randomized-response.ts";
import { drawUnary } from "../../privacy/unary-encoding.ts";
import type { Randomness } from "../../randomness/index.ts";
import { areBits } from "../statistic.ts";
import type { HistogramMechanism } from "./histogram.ts";

/** For every bucket what to tell: its bit, or 0 or 1 regardless. Decided without looking at any. */
export function drawHistogramResponses(mechanism: HistogramMechanism, random: Randomness): (0 | 1 | "keep")[] {
  const responses: (0 | 1 | "keep")[] = [];
  if (mechanism.name === "kary") {
    const { keep, decoy } = drawKary(mechanism, random);
    for (let b = 0; b < mechanism.buckets; b++) responses.push(keep ? "keep" : b === decoy ? 1 : 0);
    return responses;
  }
  for (let b = 0; b < mechanism.buckets; b++) {
    responses.push(mechanism.name === "unary" ? drawUnary(mechanism, random) : drawResponse(mechanism, random));
  }
  return responses;
}

/** The answers of a device in this bucket. */
export function respondHistogram(mechanism: HistogramMechanism, bucket: number, random: Randomness): number[] {
  return drawHistogramResponses(mechanism, random).map((response, b) =>
    response === "keep" ? Number(b === bucket) : response,
  );
}

/** Whether an opened report is one that the mechanism can give. */
export function isHistogramAnswer(mechanism: HistogramMechanism, answers: readonly number[]): boolean {
  const sum = answers.reduce((total, answer) => total + answer, 0);
  return areBits(answers) && (mechanism.name !== "kary" || sum === 1);
}
