/**
 * A value that does not show in logs, error messages, JSON or `console.log`: only `reveal()` gives it out.
 * It lives in a closure, so no property of the object leads to it.
 */
export interface Secret<T> {
  reveal(): T;
  toString(): string;
  toJSON(): string;
}

const SHOWN = "[secret]";
/** Node's `util.inspect` asks objects for this; a registered symbol, so core needs no Node types. */
const INSPECT: symbol = Symbol.for("nodejs.util.inspect.custom");

/** Wraps a value so that it is printed, logged and stringified as `[secret]`. */
export function secret<T>(value: T): Secret<T> {
  const show = (): string => SHOWN;
  return Object.freeze({ reveal: () => value, toString: show, toJSON: show, [INSPECT]: show });
}
