import { LetheError } from "@lethe/core/error";
import type { Admin } from "../http/admin-routes.ts";
import { addAgreement, openAgreements, removeAgreement } from "../storage/agreements.ts";
import type { Database } from "../storage/database.ts";
import { asRun } from "../tasks/development.ts";
import { requireMode } from "../tasks/task-servers.ts";

/** What the admin can ask of a helper: to agree to tasks. Only its leader makes tasks and windows. */
export function helperAdmin(database: Database, isDevelopment: boolean): Admin {
  return {
    createTask: async () => {
      throw new LetheError(
        "bad-task",
        "mode two-server: a helper agrees to tasks that its leader makes: npx lethe task agree",
      );
    },
    close: async () => {
      throw new LetheError("window-not-open", "a helper's windows close when its leader's do");
    },
    agreements: {
      add: async (task) => {
        requireMode(task, "two-server", "mode is two-server where there is a helper");
        return (await addAgreement(database, task)) ? asRun(task, isDevelopment) : undefined;
      },
      open: () => openAgreements(database),
      withdraw: (task, version) => removeAgreement(database, task, version),
    },
  };
}
