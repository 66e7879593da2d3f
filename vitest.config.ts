import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * The end of a test file's name decides when and with what it runs:
 *
 * | name                  | runs in               | with                                                             |
 * |-----------------------|-----------------------|------------------------------------------------------------------|
 * | `x.test.ts`           | `npm test`            | the embedded database, if it needs one                           |
 * | `x.store.test.ts`     | both                  | PostgreSQL in `npm test`, the embedded database in `test:faults` |
 * | `x.postgres.test.ts`  | `npm test`            | PostgreSQL; in `npm run test:slow` the embedded database         |
 * | `x.fault.test.ts`     | `npm run test:faults` | kills, races, broken disks, networks and clocks                  |
 * | `x.browser.test.ts`   | `npm run test:faults` | the browsers that are installed                                  |
 * | `x.installed.test.ts` | `npm run test:faults` | the packages as npm packs and installs them                      |
 * | `x.stat.test.ts`      | `npm run test:faults` | many samples                                                     |
 * | `x.timed.test.ts`     | `npm run test:faults` | a machine that does nothing else, because it compares times      |
 * | `x.slow.test.ts`      | `npm run test:slow`   | an hour of patience                                              |
 */
const FOLDERS = "packages/*/{src,scenarios}/**";

/** Mathematics without state: these files share processes, because starting a process takes longer than most of them run. */
const PURE = [
  "packages/core/src/**/*.test.ts",
  "packages/lab/src/{attacks,baseline,collusion,duel,experiments,fhe,intrusion,pke,plot}/**/*.test.ts",
];

/** Names that say more than `x.test.ts`: other projects run these. */
const OTHER_KINDS = "**/*.{store,postgres,fault,browser,installed,stat,timed,slow}.test.ts";

const WASM_LATER = fileURLToPath(new URL("scripts/wasm-later.cjs", import.meta.url));

/** For tests that start services with embedded databases. */
const EMBEDDED = {
  execArgv: ["--require", WASM_LATER],
  env: {
    // DATABASE_URL is for the tests with PostgreSQL. An empty value keeps it from the programs that these tests start.
    DATABASE_URL: "",
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --require ${JSON.stringify(WASM_LATER)}`,
  },
};

export default defineConfig({
  test: {
    exclude: ["**/node_modules/**", "**/dist/**"],
    // What `tsc -b` has built loads as it is, which saves a seventh of the time. Not `files`: tests replace its `node:fs`.
    server: { deps: { external: [/\/packages\/(?!files\/)[^/]+\/dist\/.*\.js$/] } },
    // Only a test that hangs reaches these limits, also on a machine with a load of six per processor.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    // Two more than CI has processors, because many tests wait: for windows to end, for browsers, for disks.
    maxWorkers: 4,
    projects: [
      { extends: true, test: { name: "pure", include: PURE, exclude: [OTHER_KINDS], isolate: false } },
      {
        extends: true,
        test: {
          name: "embedded",
          include: [`${FOLDERS}/*.test.ts`],
          exclude: [...PURE, OTHER_KINDS],
          ...EMBEDDED,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: [`${FOLDERS}/*.{store,postgres}.test.ts`],
          globalSetup: "packages/server/test/postgres-setup.ts",
        },
      },
      { extends: true, test: { name: "stores", include: [`${FOLDERS}/*.store.test.ts`], ...EMBEDDED } },
      { extends: true, test: { name: "faults", include: [`${FOLDERS}/*.fault.test.ts`], ...EMBEDDED } },
      { extends: true, test: { name: "browsers", include: [`${FOLDERS}/*.browser.test.ts`], ...EMBEDDED } },
      { extends: true, test: { name: "installed", include: [`${FOLDERS}/*.installed.test.ts`], ...EMBEDDED } },
      { extends: true, test: { name: "statistics", include: [`${FOLDERS}/*.stat.test.ts`], ...EMBEDDED } },
      {
        extends: true,
        test: {
          name: "timed",
          include: [`${FOLDERS}/*.timed.test.ts`],
          env: { DATABASE_URL: "" },
          // After all others, one file at a time.
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
    ],
  },
});
