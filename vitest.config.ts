import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const SERVER = "packages/server/src";

/** Mathematics without state: these may share processes, of which each would take longer to start than most of the tests run. */
const PURE = [
  "packages/core/src/**/*.test.ts",
  "packages/lab/src/{attacks,baseline,experiments,fhe,intrusion,pke,plot}/**/*.test.ts",
];

/** These run once, with the embedded database: they are about its files or about no database at all, or start their own servers. */
const ONLY_EMBEDDED = [
  "clock/*",
  "cluster*",
  "development",
  "kill",
  "news",
  "races",
  "two-servers-differ",
  "two-servers-kill",
  "peer/agreed-task",
  "peer/client",
  "peer/malicious-leader",
  "validity-oracle.stat",
  "window-time",
  "http/connections",
  "http/cors",
  "http/openapi",
  "http/pipelining",
  "intake/addresses",
  "intake/group-commit",
  "intake/network",
  "intake/network-limit",
  "intake/rate-limit",
  "peer/envelope",
  "release/erasure",
  "release/forged-reports",
  "release/release",
  "storage/data-folder",
  "tally/key-file",
  "tally/opening",
  "tally/sealed-tally",
].map((name) => `${SERVER}/${name}.test.ts`);

/** The form of requests and answers, whatever stores them: with PostgreSQL, which starts sooner, and with the embedded database in the slow run. */
export const OF_ANY_STORE: string[] = [
  "http/flood",
  "http/metrics",
  "http/refusals",
  "http/report-size",
  "intake/enrol",
  "tally/create-task",
  "tally/windows",
].map((name) => `${SERVER}/${name}.test.ts`);

/** And what is about the server, and what happens when it goes away. */
const ONLY_POSTGRES = [...OF_ANY_STORE, `${SERVER}/storage/postgres.test.ts`];

/** The one that compares times to limits, and a long one that keeps to one processor and runs beside it. */
const TIMED = ["packages/lab/src/bench/bench.test.ts", "packages/core/src/estimate/estimate.stat.test.ts"];

const WASM_LATER = fileURLToPath(new URL("scripts/wasm-later.cjs", import.meta.url));

export default defineConfig({
  test: {
    exclude: ["**/*.slow.test.ts", "**/node_modules/**", "**/dist/**"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // One more than CI has processors, as many tests wait: for windows to end, for browsers, for disks.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: "pure",
          include: PURE,
          exclude: TIMED,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "embedded",
          include: ["packages/*/src/**/*.test.ts"],
          exclude: [...PURE, ...ONLY_POSTGRES, ...TIMED],
          execArgv: ["--require", WASM_LATER],
          env: {
            // As good as not set: it is for the tests with PostgreSQL, not for the programs that these start.
            DATABASE_URL: "",
            NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --require ${JSON.stringify(WASM_LATER)}`,
          },
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: [`${SERVER}/**/*.test.ts`],
          exclude: ONLY_EMBEDDED,
          globalSetup: "packages/server/test/postgres-setup.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "timed",
          include: TIMED,
          env: { DATABASE_URL: "" },
          // After all others, and no more of them than there are processors.
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
        },
      },
    ],
  },
});
