import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.slow.test.ts"],
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
});
