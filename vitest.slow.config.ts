import { defineConfig } from "vitest/config";
import { OF_ANY_STORE } from "./vitest.config.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.slow.test.ts", ...OF_ANY_STORE],
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
});
