import { LetheError } from "@lethe/core/error";
import { decodeTwoServerReport } from "@lethe/core/two-server";
import { unpackHelperKeys } from "../between/messages.ts";
import type { Helper } from "../leader/client.ts";
import { countWithHelper } from "../leader/count.ts";
import { canNeverAgree, finishWithHelper } from "../leader/finish.ts";
import { issueKeysOfBoth } from "../leader/issue-keys.ts";
import { bundleOf } from "../storage/spare-keys.ts";
import type { TwoServerTask } from "../storage/tasks.ts";
import type { KeyHolder, ServerProtocol } from "./protocol.ts";

/**
 * A task whose reports a leader and a helper open together, as the leader sees it: each publishes its share of the
 * sums.
 */
export function twoServer(task: TwoServerTask): ServerProtocol {
  return {
    requireReport: (body) => void decodeTwoServerReport(task.layout, task.hash, body),
    keysOf: ({ publicKeys, signature }) => {
      const { leaderKeys, ...helper } = unpackHelperKeys(publicKeys);
      return [
        { role: "leader", publicKeys: leaderKeys, signature },
        { role: "helper", ...helper },
      ];
    },
    issueKeys: async (parts, window, windowSecret, count) =>
      bundleOf(await issueKeysOfBoth(parts, helperOf(parts), task, window, windowSecret, count)),
    count: async (parts, _database, window, isPaused) =>
      countWithHelper(parts, helperOf(parts), task, window, isPaused),
    finish: async (parts, windowId, at) => finishWithHelper(parts, helperOf(parts), task, windowId, at),
    isLost: canNeverAgree,
  };
}

function helperOf({ helper }: Pick<KeyHolder, "helper">): Helper {
  if (helper) return helper;
  throw new LetheError("bad-role", "there is a task of two servers: start this service with --role leader");
}
