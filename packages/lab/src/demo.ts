import {
  chooseLattice,
  createLattice,
  type DeviceKeyContext,
  decodeCompact,
  deriveDeviceKeys,
  deriveDeviceSecretKey,
  encodeCompact,
  secret,
} from "@lethe/core/encryption";
import { type Randomness, randomnessFrom } from "@lethe/core/randomness";

export interface DemoResult {
  /** What happened, what was opened: one entry per counter of the ledger. */
  readonly counters: readonly { readonly name: string; readonly truth: number; readonly opened: number }[];
  readonly writes: number;
  readonly bytes: { readonly state: number; readonly report: number; readonly publicKey: number };
  readonly microseconds: { readonly write: number; readonly seal: number; readonly open: number };
  /** Share of the state's bytes that changed from one write to the next, on average. */
  readonly changedBytes: number;
  readonly seconds: number;
}

const COUNTERS = ["export.failed", "login.slow", "page.crashed", "print.used", "help.opened", "undo.used"];
const TICKS = 288;
const PLAINTEXT_BITS = 4;

/**
 * One device and one server in one process: a ledger of counters is kept in a ciphertext through a day of ticks,
 * rewritten twice at each, sealed, and opened with the key that only the server can derive.
 */
export function runDemo(random: Randomness = randomnessFrom(globalThis.crypto)): DemoResult {
  const started = performance.now();
  const encryptions = 2 * TICKS;
  const { parameters, format } = chooseLattice({ plaintextBits: PLAINTEXT_BITS, slots: 1024, encryptions });
  const ledger = createLattice(parameters, PLAINTEXT_BITS);

  const masterBytes = new Uint8Array(32);
  const device = new Uint8Array(16);
  random(masterBytes);
  random(device);
  const master = secret(masterBytes);
  const context: DeviceKeyContext = { task: "demo", window: 0, device, role: "tally", index: 0 };
  const publicKey = ledger.decodePublicKey(ledger.encodePublicKey(deriveDeviceKeys(ledger, master, context).publicKey));

  const truth = COUNTERS.map((_, slot) => slot * 3);
  const memory = ledger.trivial();
  let stored = new Uint8Array(ledger.ciphertextBytes);
  let changed = 0;
  const writeTime = median(TICKS, (tick) => {
    truth.forEach((count, slot) => {
      if (tick < count) ledger.addToSlot(memory, slot, 1);
    });
    return () => {
      ledger.addEncryptionsOfZero(publicKey, memory, 1, random);
      const next = ledger.encode(memory);
      ledger.addEncryptionsOfZero(publicKey, memory, 1, random);
      changed += next.reduce((sum, byte, i) => sum + (byte === stored[i] ? 0 : 1), 0) / next.length;
      stored = next as Uint8Array<ArrayBuffer>;
    };
  });

  let report = new Uint8Array();
  const sealTime = median(1, () => () => {
    report = encodeCompact(parameters, format, ledger.decode(stored)) as Uint8Array<ArrayBuffer>;
  });
  let opened = new Int32Array();
  const openTime = median(20, () => () => {
    const secretKey = deriveDeviceSecretKey(ledger, master, context);
    opened = ledger.decrypt(secretKey, decodeCompact(parameters, format, report)) as Int32Array<ArrayBuffer>;
  });

  return {
    counters: COUNTERS.map((name, slot) => ({
      name,
      truth: (truth[slot] as number) % 2 ** PLAINTEXT_BITS,
      opened: opened[slot] as number,
    })),
    writes: TICKS,
    bytes: { state: ledger.ciphertextBytes, report: report.length, publicKey: ledger.publicKeyBytes },
    microseconds: { write: writeTime, seal: sealTime, open: openTime },
    changedBytes: changed / TICKS,
    seconds: (performance.now() - started) / 1000,
  };
}

/** Median microseconds of the tasks that `prepare` hands out for 0, 1, …, count − 1. */
function median(count: number, prepare: (i: number) => () => void): number {
  const times = Array.from({ length: count }, (_, i) => {
    const task = prepare(i);
    const start = performance.now();
    task();
    return 1000 * (performance.now() - start);
  });
  return times.sort((a, b) => a - b)[Math.floor(count / 2)] as number;
}
