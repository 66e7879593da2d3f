import { type AuditResult, audit } from "@lethe/lab/audit";
import type { Command } from "commander";
import { createProgress } from "../print/progress.ts";
import { figure, formatTable } from "../print/table.ts";

interface AuditOptions {
  readonly with: string;
  readonly without: string;
  readonly json?: boolean;
}

export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("whether what your own application stores tells devices with events from devices without")
    .requiredOption(
      "--with <folder>",
      "captured where it happened: an entry for each device, a file or a folder of files",
    )
    .requiredOption("--without <folder>", "captured where it did not")
    .option("--json", "print JSON only")
    .addHelpText("after", "\nExit code 0 if nothing was found, 1 if they can be told apart, 2 if it cannot be said.")
    .action(run);
}

function run(options: AuditOptions): void {
  // Node would end with 1, which says that something was found.
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
