/**
 * The command `lethe audit`: whether the files that an application stores show which devices had events. The lab tests
 * them; this file prints its verdict.
 */
import { type AuditResult, audit } from "@lethe/lab/audit";
import type { Command } from "commander";
import { createProgress } from "../print/progress.ts";
import { figure, formatTable } from "../print/table.ts";

interface AuditOptions {
  readonly with: string;
  readonly without: string;
  readonly json?: boolean;
}

/** Adds the command to the program. */
export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("test whether the files that your application stores show which devices had events")
    .requiredOption(
      "--with <folder>",
      "captures of devices with events: one entry per device, a file or a folder of files",
    )
    .requiredOption("--without <folder>", "captures of devices without events")
    .option("--json", "print JSON only")
    .addHelpText(
      "after",
      "\nExit code 0 if no difference was found, 1 if the devices can be distinguished, 2 if the audit could not run.",
    )
    .action(run);
}

function run(options: AuditOptions): void {
  // Node would exit with 1, which means that the devices can be distinguished.
  process.on("uncaughtException", (error) => {
    process.stderr.write(`error: ${error.stack ?? error.message}\n`);
    process.exit(2);
  });
  const result = audit(options.with, options.without, createProgress("captures"));
  console.log(options.json ? JSON.stringify(result) : describe(result));
  process.exitCode = result.verdict === "distinguishable" ? 1 : 0;
}

function describe(result: AuditResult): string {
  const { devices, tests } = result;
  const rows = tests.map(({ distinguisher, advantage, probability, tells, detectable }) => [
    distinguisher,
    tells ? "tells" : "",
    advantage.toFixed(2),
    figure(probability),
    detectable?.toFixed(2) ?? "too few",
  ]);
  return [
    formatTable(["what is looked at", "", "advantage", "p", "would be found"], rows, 2),
    "",
    `${devices.with} devices with events, ${devices.without} without.`,
    explain(result),
  ].join("\n");
}

function explain({ verdict, tests, detectable, power, falseAlarms }: AuditResult): string {
  const percent = (share: number): string => `${100 * share}%`;
  if (verdict === "distinguishable") {
    const telling = tests.filter(({ tells }) => tells);
    const by = telling.map(
      ({ distinguisher, where, probability }) =>
        `${distinguisher}${where ? ` (${where})` : ""}, p = ${figure(probability)}`,
    );
    return `${verdict} (by ${by.join("; by ")}); chance brings such a verdict in at most ${percent(falseAlarms)} of audits`;
  }
  return (
    `${verdict}; an advantage of at least ${detectable.toFixed(2)} would have been found with ${percent(power)} probability\n` +
    "(at one place among thousands, and by the classifier: as the last column says; with more devices, smaller ones)"
  );
}
