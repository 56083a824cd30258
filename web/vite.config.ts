import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server serves the build under /console/; in development, Vite serves it and passes /v1 on.
const server = process.env.HORAE_URL ?? "http://127.0.0.1:8420";

export default defineConfig({
  base: "/console/",
  plugins: [react()],
  resolve: { alias: { "~": new URL("./src", import.meta.url).pathname } },
  build: {
    outDir: "../src/horae/console/static",
    emptyOutDir: true,
    target: "es2023",
    // Nothing is put into the style sheet or the page as data: the policy of the server is strict.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": server, "/openapi.json": server } },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
