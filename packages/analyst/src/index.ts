/**
 * The client of a Lethe service. It reads tasks, windows and releases, waits for windows, and assembles the release of
 * a window from the shares of two servers. The command line, the lab and web pages use it, so this package imports only
 * `@lethe/core`, and needs only `fetch` and WebCrypto.
 *
 * Start reading with `service.ts`, the requests that anybody may send. `admin.ts` has the requests that take the admin
 * token, `operations.ts` reads how a service is, `window.ts` finds windows, `find.ts` finds their releases,
 * `last-windows.ts` finds those of many windows, and `collect.ts` asks two servers and has `assemble.ts` check and add
 * what they publish. All requests pass through `request.ts`. Figures for readers start with `series.ts`, figures over
 * many windows; `figures.ts` has those of one window, and `csv.ts` writes both as CSV. `demonstration.ts` is what only a
 * demonstration knows.
 */

export {
  agreeToTask,
  type CreatedTask,
  closeWindow,
  createTask,
  listTasks,
  type TaskList,
  type TaskSummary,
  withdrawAgreement,
} from "./admin.ts";
export { type AssembleOptions, assemble, type ServerPair } from "./assemble.ts";
export { type CollectOptions, collectLastWindows, collectRelease, helperHindrance } from "./collect.ts";
export { toCsv } from "./csv.ts";
export { type Demonstration, fetchDemonstration, type RunningWindow, type Truth } from "./demonstration.ts";
export { ANY, type CrossTable, crossTableOf, differencesOf, isAverage, localDelta } from "./figures.ts";
export { type FoundRelease, findRelease, type Pending, type SoughtRelease } from "./find.ts";
export { lastWindows, type UnreleasedWindow } from "./last-windows.ts";
export { fetchManifest, fetchSignedManifest } from "./manifest.ts";
export { fetchOperations, fetchServiceInfo } from "./operations.ts";
export { type Refusal, unless } from "./request.ts";
export { FINISHED_WORDS, type FigureOrGap, type FinishedWindow, figureIn, type Series, seriesOf } from "./series.ts";
export {
  fetchRelease,
  fetchReleases,
  fetchWindow,
  type PublishedWindow,
  type Reader,
  type ServerShare,
  statusOfFile,
} from "./service.ts";
export { newestInGrace, unfinishedWindows } from "./window.ts";
