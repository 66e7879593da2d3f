/** How sure somebody can be at most who thought "fifty-fifty" before: 1/(1 + e^−ε), rounded up. */
export function surenessPercent(epsilon: number): string {
  const share = 1 / (1 + Math.exp(-epsilon));
  const percent = Math.min(100, Math.ceil(1000 * share - 1e-9) / 10);
  return percent >= 99.95 ? "nearly 100%" : `${percent}%`;
}

/** One plain sentence per figure. */
export function localSentence(epsilon: number, isTwoServers: boolean): string {
  const who = isTwoServers ? "Servers that open this device's answers" : "The server that opens this device's answers";
  return `${who}, after guessing fifty-fifty about it, can be ${surenessPercent(epsilon)} sure at most.`;
}

/** The same about releases. */
export function aggregateSentence(epsilon: number, honest: string): string {
  return `Everybody who reads the release can be ${surenessPercent(epsilon)} sure at most, as long as ${honest} honest devices report.`;
}

/** The same about a captured device. */
export function hijackedSentence(epsilon: number): string {
  if (!Number.isFinite(epsilon)) {
    return "Too few honest devices report to hide a device whose stored state an intruder captured and sent.";
  }
  return `If an intruder captured the device's stored state and sent it as the report, readers of the release can be ${surenessPercent(epsilon)} sure at most.`;
}
