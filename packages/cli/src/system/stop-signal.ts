/** Resolves when the process is asked to end by SIGINT or SIGTERM. A second signal ends it at once. */
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

/** On Ctrl-C, both the terminal and npx send a signal to this process: two within this time count as one. */
const ECHO_MS = 500;
/** 128 plus the number of the signal, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
