import type { Refusal } from "@lethe/analyst";
import type { LetheError } from "@lethe/core/error";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Loaded } from "./load.ts";
import { useSecondsUntil } from "./now.ts";
import { ForgetToken, TokenForm, tooMany } from "./token-form.tsx";

/** Nothing to show, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Something is on its way. The place keeps its height, so that nothing jumps when it arrives. */
export function Loading({ what }: { what: string }): JSX.Element {
  return (
    <p class="state loading" role="status">
      Loading {what} …
    </p>
  );
}

/** What failed, why, and what the reader can do. Asks for the admin token if that is what is missing. */
export function Failure({ failure, again }: { failure: LetheError; again: () => void }): JSX.Element {
  if (failure.code === "unauthorized") return <TokenForm reason={failure.message} />;
  if (failure.code === "rate-limited") return <RateLimited failure={failure} />;
  const isOffline = failure.code === "unreachable";
  return (
    <div class="state failed" role="alert">
      <h2>{isOffline ? "The service does not answer" : "This could not be loaded"}</h2>
      <p>{failure.message}</p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** The service wants to be left alone for a while; `useLoaded` asks again by itself. */
function RateLimited({ failure }: { failure: LetheError & Partial<Refusal> }): JSX.Element {
  const { retryAfter = 0 } = failure;
  const until = useMemo(() => Date.now() + 1000 * retryAfter, [failure]);
  const left = useSecondsUntil(until);
  return (
    <div class="state failed">
      <div role="alert">
        <h2>Please wait</h2>
        <p>{tooMany(retryAfter)}</p>
      </div>
      <p>{left > 0 ? `This page tries again in ${left} s.` : "Trying again …"}</p>
      <ForgetToken />
    </div>
  );
}

/** Shows what was loaded, or how far that is. */
export function Await<T>({
  loaded,
  what,
  children,
}: {
  loaded: Loaded<T>;
  what: string;
  children: (value: T) => ComponentChildren;
}): JSX.Element {
  if (loaded.state === "loading") return <Loading what={what} />;
  if (loaded.state === "failed") return <Failure failure={loaded.failure} again={loaded.again} />;
  return <>{children(loaded.value)}</>;
}
