/**
 * The view of operations: how the service is, and how far the windows of all tasks are, read every two seconds while the
 * tab is visible. The last figures stay if the service goes away, and are called old. Start reading here; `live.ts`
 * turns what was read into what is shown, without a page.
 */
import { fetchOperations } from "@lethe/analyst";
import type { LetheError } from "@lethe/core/error";
import type { JSX } from "preact";
import { timeOfDay } from "../format/time.ts";
import { type Loaded, useLoaded } from "../shell/load.ts";
import { useNow } from "../shell/now.ts";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import { ForgetToken } from "../shell/token-form.tsx";
import type { ViewProps } from "../shell/view.ts";
import type { Source } from "./close-dialog.tsx";
import { Health } from "./health.tsx";
import { isOld, type Read } from "./live.ts";
import { TaskWindows } from "./task-windows.tsx";
import "./operations.css";

const EVERY_MILLISECONDS = 2000;

/** The view `operations`. */
export function Operations({ server, token }: ViewProps): JSX.Element {
  const loaded = useLoaded(
    async (): Promise<Read> => ({ operations: await fetchOperations(server, { token }), at: Date.now() }),
    [server, token],
    { everyMilliseconds: EVERY_MILLISECONDS },
  );
  return (
    <>
      <header class="operations-head">
        <h1>Operations</h1>
        {token !== undefined && <ForgetToken />}
      </header>
      <Live loaded={loaded} source={{ server, token }} />
    </>
  );
}

function Live({ loaded, source }: { loaded: Loaded<Read>; source: Source }): JSX.Element {
  const failure = loaded.state === "failed" ? loaded.failure : undefined;
  const read = loaded.state === "there" ? loaded.value : loaded.state === "failed" ? loaded.last : undefined;
  if (failure?.code === "bad-role") return <NoAdmin />;
  if (!read || failure?.code === "unauthorized") {
    return failure ? <Failure failure={failure} again={loaded.again} /> : <Loading what="operations" />;
  }
  const { tasks } = read.operations;
  return (
    <>
      <Freshness read={read} failure={failure} />
      <Health read={read} />
      {tasks.map((task) => (
        <TaskWindows key={task.task} task={task} read={read} source={source} onClosed={loaded.again} />
      ))}
      {tasks.length === 0 && (
        <Empty title="This service collects nothing yet">
          <p>Windows appear here when the first task is created.</p>
        </Empty>
      )}
    </>
  );
}

/**
 * Whether the figures are live. The sentence changes only when that changes, so that a screen reader says it once; the
 * age beside it is silent.
 */
function Freshness({ read, failure }: { read: Read; failure: LetheError | undefined }): JSX.Element {
  const old = isOld(read, failure, useNow());
  const since = timeOfDay(read.at / 1000);
  return (
    <div class={old ? "freshness old" : "freshness"} data-old={String(old)}>
      <p role="status">
        {old ? `Old figures, read at ${since}. ${oldReason(failure)} The page keeps trying.` : "Live"}
      </p>
      {!old && <p class="muted">{`Read at ${since}, every ${EVERY_MILLISECONDS / 1000} s.`}</p>}
    </div>
  );
}

function oldReason(failure: LetheError | undefined): string {
  if (!failure) return "The service has not answered since.";
  return failure.code === "unreachable" ? "The service does not answer." : `The service says: ${failure.message}.`;
}

/** Of an intake without a token. */
function NoAdmin(): JSX.Element {
  return (
    <Empty title="This process answers no admin">
      <p>
        Open the console of a tally, or start this intake with <code>LETHE_ADMIN_TOKEN</code>.
      </p>
    </Empty>
  );
}
