import { agreeToTask as agree, withdrawAgreement } from "@lethe/analyst";
import type { Task } from "@lethe/core/message";
import { requireAdminToken } from "../options/admin-token.ts";
import { readTask } from "../options/task-file.ts";
import { describeTask } from "./check.ts";
import { shortenedNote } from "./create.ts";

interface AgreeOptions {
  readonly server: string;
  readonly withdraw?: true;
  readonly json?: boolean;
}

/** `lethe task agree`. A helper counts only the tasks that its own operator has read and agreed to. */
export async function agreeToTask(file: string, { server, withdraw, json }: AgreeOptions): Promise<void> {
  const asked = readTask(file);
  const { task, version } = asked;
  const token = requireAdminToken();
  if (withdraw) {
    await withdrawAgreement(server, token, asked);
    const withdrawn = `${task}, version ${version}: no longer agreed to; its leader cannot create it`;
    console.log(json ? JSON.stringify({ agreed: false, task, version }) : withdrawn);
    return;
  }
  const terms = await agree(server, token, asked);
  console.log(json ? JSON.stringify({ agreed: true, task, version, terms }) : describe(terms, asked, file));
}

function describe(terms: Task, asked: Task, file: string): string {
  const note = shortenedNote(terms, asked);
  const verdict = note.length === 0 ? "agreed to, exactly as it is in this file" : "agreed to, like this";
  return [
    describeTask(terms, verdict),
    "",
    ...note.flatMap((line) => [line, "      its leader must run with --dev, too", ""]),
    `What it costs a device, and how wrong results will be: npx lethe plan --task ${file}`,
    `Next, by the leader's operator: npx lethe task create ${file}`,
  ].join("\n");
}
