import { defineConfig } from "vite";

/** Static files with relative addresses, so that a service below any path can deliver them. */
export default defineConfig({
  base: "./",
  root: import.meta.dirname,
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: "dist/site",
    emptyOutDir: true,
    target: "es2022",
    // An inlined file would be a `data:` address, which the content security policy forbids for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
});
