/** An event on a device, by name, and the tick of the window (from 0) in which it happened. */
export interface StreamEvent {
  readonly tick: number;
  readonly event: string;
}

/** What happened on a device in a window, in the order in which it happened. */
export type EventStream = readonly StreamEvent[];

/** How many events of a stream have a name; all of them if there is no name to ask for. */
export function countOf(stream: EventStream, name: string | undefined): number {
  return name === undefined ? stream.length : stream.filter(({ event }) => event === name).length;
}
