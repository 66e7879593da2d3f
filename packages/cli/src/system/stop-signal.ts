/** Resolves when the process is asked to end; when it is asked again, it ends at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
      const now = performance.now();
      if (askedAt === undefined) {
        askedAt = now;
        resolve();
      } else if (now - askedAt > ECHO_MS) {
        process.exit(EXIT_CODES[signal]);
      }
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
}

/** npx passes on a Ctrl-C that the terminal has sent to this process, too: two in such a short time are one. */
const ECHO_MS = 500;
/** As shells count them. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
