import type { LetheError } from "@lethe/core/error";
import type { ComponentChildren, JSX } from "preact";
import type { Loaded } from "./load.ts";
import { TokenForm } from "./token-form.tsx";

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
