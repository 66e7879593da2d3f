/** A tab of any browser. */
export interface Tab {
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /**
   * In the page, with whatever policy. The function is sent as text: it sees only its arguments, which are sent as
   * JSON.
   */
  evaluate<A extends readonly unknown[], T>(act: (...args: A) => T | Promise<T>, ...args: A): Promise<T>;
  /** As people do: the page gets its events. */
  close(): Promise<void>;
}

export interface RunningBrowser {
  openTab(): Promise<Tab>;
  close(): Promise<void>;
}

/** A call as text, which any engine evaluates. */
export function callOf(act: (...args: never) => unknown, args: readonly unknown[]): string {
  return `(${act})(...${JSON.stringify(args)})`;
}
