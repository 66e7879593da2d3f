/**
 * The view of operations: how the service is, and how far the windows of all tasks are, read every two seconds while the
 * tab is visible. The last figures stay if the service goes away, and are called old. Start reading here; `live.ts`
 * turns what was read into what is shown, without a page.
 */
import { fetchOperations } from "@lethe/analyst";
import type { LetheError } from "@lethe/core/error";
import type { JSX } from "preact";
import { timeOfDay } from "../format/time.ts";
import { useLoaded } from "../shell/load.ts";
import { useNow } from "../shell/now.ts";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import { ForgetToken } from "../shell/token-form.tsx";
import type { ViewProps } from "../shell/view.ts";
import { Health } from "./health.tsx";
import { OLD_MILLISECONDS, type Read } from "./live.ts";
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
  if (loaded.state === "loading") return <Loading what="operations" />;
  const failure = loaded.state === "failed" ? loaded.failure : undefined;
  const read = loaded.state === "failed" ? loaded.last : loaded.value;
  if (failure?.code === "bad-role") return <NoAdmin failure={failure} />;
  if (failure && (!read || failure.code === "unauthorized")) return <Failure failure={failure} again={loaded.again} />;
  if (!read) return <Loading what="operations" />;
  const { operations } = read;
  return (
    <>
      <header class="operations-head">
        <h1>Operations</h1>
        {token !== undefined && <ForgetToken />}
      </header>
      <Freshness read={read} failure={failure} />
      <Health read={read} />
      {operations.tasks.map((task) => (
        <TaskWindows key={task.task} task={task} read={read} source={{ server, token }} onClosed={loaded.again} />
      ))}
      {operations.tasks.length === 0 && (
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
  const age = useNow() - read.at;
  const isOld = failure !== undefined || age > OLD_MILLISECONDS;
  const since = timeOfDay(read.at / 1000);
  return (
    <div class={isOld ? "freshness old" : "freshness"} data-old={String(isOld)}>
      <p role="status">
        {isOld ? `Old figures, read at ${since}. ${oldReason(failure)} The page keeps trying.` : "Live"}
      </p>
      <p class="muted">
        {isOld ? "What follows may have changed." : `Read at ${since}, every ${EVERY_MILLISECONDS / 1000} s.`}
      </p>
    </div>
  );
}

function oldReason(failure: LetheError | undefined): string {
  if (!failure) return "The service has not answered since.";
  return failure.code === "unreachable" ? "The service does not answer." : `The service says: ${failure.message}.`;
}

/** An intake without a token: other processes answer the admin. */
function NoAdmin({ failure }: { failure: LetheError }): JSX.Element {
  return (
    <Empty title="This process answers no admin">
      <p>{failure.message}</p>
    </Empty>
  );
}
