"use client";

import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type Lethe, type LetheOptions, openLethe } from "./lethe.ts";

/**
 * Lethe for React, 18 or later: a provider that opens it, and a hook that records. It adds no elements to the page, and
 * opens nothing while a server renders. Options and a Lethe that is open already exclude each other.
 */
export type LetheProviderProps = { readonly children?: ReactNode } & (
  | { readonly options: LetheOptions; readonly lethe?: undefined }
  | { readonly lethe: Lethe; readonly options?: undefined }
);

/** What `useLethe` returns. */
export interface UsedLethe<Name extends string = string> {
  /**
   * The same function in every render. Events before Lethe is open are dropped, as it drops those before it is
   * enrolled.
   */
  readonly record: (name: Name, times?: number) => void;
  /** Undefined until it is open. */
  readonly lethe: Lethe<Name> | undefined;
}

const Context = createContext<UsedLethe | undefined>(undefined);

/**
 * Opens Lethe with `options` when it is mounted, and closes it when it is unmounted; other addresses, keys, tasks,
 * groups or budgets close one and open another. A `lethe` that is passed is the application's own, and stays open. Options that are wrong
 * are thrown to the next error boundary.
 */
export function LetheProvider({ options, lethe, children }: LetheProviderProps): ReactElement {
  const [opened, setOpened] = useState<Lethe>();
  const current = lethe ?? opened;
  const latest = useRef(current);
  latest.current = current;
  useOpened(options, setOpened);
  const record = useCallback((name: string, times?: number) => latest.current?.record(name, times), []);
  const used = useMemo<UsedLethe>(() => ({ record, lethe: current }), [record, current]);
  return createElement(Context.Provider, { value: used }, children);
}

/** Lethe of the provider above. `Name` is the type that `lethe task types` writes. */
export function useLethe<Name extends string = string>(): UsedLethe<Name> {
  const used = useContext(Context);
  if (!used) throw new TypeError("useLethe needs a LetheProvider above it");
  return used as UsedLethe<Name>;
}

/** One that is open, or opens; it may be asked to close a moment after it was unmounted. */
interface Opening {
  readonly identity: string;
  readonly lethe: Promise<Lethe>;
  closing?: ReturnType<typeof setTimeout>;
}

function useOpened(options: LetheOptions | undefined, setOpened: (lethe: Lethe | undefined) => void): void {
  const identity = options && identityOf(options);
  const opening = useRef<Opening>(undefined);
  const latest = useRef(options);
  latest.current = options;
  const [, fail] = useState<never>();

  useEffect(() => {
    if (identity === undefined || !latest.current) return;
    if (opening.current?.identity === identity) clearTimeout(opening.current.closing);
    else opening.current = { identity, lethe: openLethe(latest.current) };
    const own = opening.current;
    let isMounted = true;
    own.lethe.then(
      (lethe) => isMounted && setOpened(lethe),
      (error: unknown) =>
        isMounted &&
        fail(() => {
          throw error;
        }),
    );
    return () => {
      isMounted = false;
      setOpened(undefined);
      // Strict mode unmounts and mounts again at once: that is no reason to close.
      own.closing = setTimeout(() => {
        if (opening.current === own) opening.current = undefined;
        own.lethe.then((lethe) => lethe.close()).catch(() => undefined);
      });
    };
  }, [identity, setOpened]);
}

/** What makes it another Lethe; callbacks and the like may differ in every render. */
function identityOf({ server, task, operatorKey, helperKey, group, budget }: LetheOptions): string {
  return JSON.stringify([server, task, operatorKey, helperKey, group, budget?.epsilon, budget?.days]);
}
