import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/{src,scenarios}/**/*.{slow,postgres}.test.ts"],
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
  },
});
