import { spawn, spawnSync } from "node:child_process";
import { sign, verify } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { commitToWindowSecret } from "@lethe/core/encryption";
import { LetheError } from "@lethe/core/error";
import { encodeBase64url } from "@lethe/core/message";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../test/folder.ts";
import { readKeyFile, secretsIn } from "../../test/key-file.ts";
import { type KeyFile, openKeyFile } from "./key-file.ts";

const disk = vi.hoisted(() => ({ keeps: (text: unknown): unknown => text }));

vi.mock("node:fs", async (importOriginal) => {
  const actual = await importOriginal<typeof import("node:fs")>();
  const write = actual.writeFileSync as (...args: unknown[]) => void;
  const writeFileSync = (file: unknown, text: unknown, ...rest: unknown[]): void =>
    write(file, disk.keeps(text), ...rest);
  return { ...actual, writeFileSync };
});

const newPath = (): string => join(temporaryFolder(), "keys.json");
const share = (path: string): KeyFile => openKeyFile(path, { severalProcesses: true });
const built = fileURLToPath(new URL("../../dist/tally/key-file.js", import.meta.url));

/** Why it cannot be opened; the reason never quotes a secret that is in the file. */
function refusalOf(path: string): LetheError {
  const before = existsSync(path) && statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  try {
    openKeyFile(path);
  } catch (error) {
    if (!(error instanceof LetheError)) throw error;
    expect(error.code).toBe("bad-key-file");
    expect(error.message).toContain(path);
    const told = inspect(error, { depth: 9, showHidden: true });
    for (const [text] of before.matchAll(/[\w-]{8,}/g)) {
      if (!path.includes(text)) expect(told).not.toContain(text);
    }
    return error;
  }
  throw new Error("it was opened");
}

describe("a new key file", () => {
  it("belongs to its owner alone, in a folder with nothing else left in it", () => {
    const path = newPath();
    openKeyFile(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["keys.json"]);
  });

  it("stays so if what an earlier write left behind was open to all", () => {
    const path = newPath();
    writeFileSync(`${path}.new`, "half", { mode: 0o644 });
    const keyFile = openKeyFile(path);
    keyFile.openWindow("task", 1);
    keyFile.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("holds its own operator key, which opens again and signs", () => {
    const [path, other] = [newPath(), newPath()];
    const [first, second] = [openKeyFile(path), openKeyFile(other)];
    expect(first.operatorKey).toMatch(/^ed25519:[\w-]{43}$/);
    expect(first.operatorKey).not.toBe(second.operatorKey);
    const signature = sign(null, Buffer.from("text"), first.signingKey);
    first.close();
    const again = openKeyFile(path);
    expect(again.operatorKey).toBe(first.operatorKey);
    const key = { kty: "OKP", crv: "Ed25519", x: again.operatorKey.slice("ed25519:".length) };
    expect(verify(null, Buffer.from("text"), { key, format: "jwk" }, signature)).toBe(true);
  });
});

describe("the secret of a window", () => {
  it("is on disk when it is made, stays the same, and comes back after a restart", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const made = keyFile.openWindow("task", 7);
    expect(readKeyFile(path).windows["task/7"]).toBe(encodeBase64url(made.reveal()));
    expect(keyFile.openWindow("task", 7).reveal()).toEqual(made.reveal());
    expect(keyFile.windowSecret("task", 7)?.reveal()).toEqual(made.reveal());
    expect(keyFile.windowSecret("task", 8)).toBeUndefined();
    expect(keyFile.windowSecret("other", 7)).toBeUndefined();
    keyFile.close();
    expect(openKeyFile(path).windowSecret("task", 7)?.reveal()).toEqual(made.reveal());
  });

  it("differs from every other, and each step moves the ratchet on", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const seen = new Set([readKeyFile(path).chain]);
    for (let i = 0; i < 20; i++) {
      seen.add(encodeBase64url(keyFile.openWindow(i % 2 === 0 ? "a" : "b", i).reveal()));
      seen.add(readKeyFile(path).chain);
    }
    expect(seen.size).toBe(41);
  });

  it("differs from the one that a copy of the same file makes", () => {
    const [path, copy] = [newPath(), newPath()];
    openKeyFile(path).close();
    writeFileSync(copy, readFileSync(path), { mode: 0o600 });
    const [one, other] = [openKeyFile(path).openWindow("task", 1), openKeyFile(copy).openWindow("task", 1)];
    expect(one.reveal()).not.toEqual(other.reveal());
  });

  it("when destroyed is gone from the file and from memory, and the others stay", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const [first, second] = [keyFile.openWindow("task", 1), keyFile.openWindow("task", 2)];
    const [gone, commitment] = [encodeBase64url(first.reveal()), commitToWindowSecret(first)];
    keyFile.destroyWindow("task", 1);
    expect(readFileSync(path, "utf8")).not.toContain(gone);
    expect(keyFile.windowSecret("task", 1)).toBeUndefined();
    expect(first.reveal()).toEqual(new Uint8Array(32));
    expect(keyFile.windowSecret("task", 2)?.reveal()).toEqual(second.reveal());
    // Made again it is another: what was encrypted stays closed.
    expect(commitToWindowSecret(keyFile.openWindow("task", 1))).not.toEqual(commitment);
    keyFile.destroyWindow("task", 99);
    expect(readdirSync(join(path, ".."))).toEqual(expect.not.arrayContaining(["keys.json.new"]));
  });

  it("cannot be found in what the file held before, once the chain has moved on", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const { chain } = readKeyFile(path);
    const before = keyFile.openWindow("task", 1);
    expect(secretsIn(path)).not.toContain(chain);
    keyFile.openWindow("task", 2);
    keyFile.destroyWindow("task", 1);
    expect(before.reveal()).toEqual(new Uint8Array(32));
    expect(Object.keys(readKeyFile(path).windows)).toEqual(["task/2"]);
  });
});

describe("when the disk does not take it", () => {
  /** A folder in the way: no new content can be written. */
  const block = (path: string): void => {
    mkdirSync(join(`${path}.new`, "in-the-way"), { recursive: true });
  };
  const unblock = (path: string): void => rmSync(`${path}.new`, { recursive: true });

  it("a window has no secret, and the next try makes one that is on disk", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    block(path);
    expect(() => keyFile.openWindow("task", 1)).toThrow();
    expect(keyFile.windowSecret("task", 1)).toBeUndefined();
    unblock(path);
    const made = keyFile.openWindow("task", 1);
    expect(readKeyFile(path).windows["task/1"]).toBe(encodeBase64url(made.reveal()));
  });

  it("a secret that could not be destroyed is destroyed by the next try", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const made = keyFile.openWindow("task", 1);
    block(path);
    expect(() => keyFile.destroyWindow("task", 1)).toThrow();
    unblock(path);
    keyFile.destroyWindow("task", 1);
    expect(readKeyFile(path).windows).toEqual({});
    expect(made.reveal()).toEqual(new Uint8Array(32));
  });
});

describe("when the disk is nearly full", () => {
  /** Opens windows in a process whose files may not grow beyond a few blocks, until one cannot be written whole. */
  const fillUp = (path: string): { opened: number; error: string } => {
    const program = `
      import { openKeyFile } from ${JSON.stringify(built)};
      const keyFile = openKeyFile(${JSON.stringify(path)});
      let opened = 0;
      try {
        for (; opened < 1000; opened++) keyFile.openWindow("task", opened);
      } catch ({ code, message }) {
        console.log(JSON.stringify({ opened, error: code + ": " + message }));
      }
      keyFile.close();`;
    const command = 'ulimit -f 2 && exec "$0" "$@"';
    const args = ["-c", command, process.execPath, "--input-type=module", "--eval", program];
    const { stdout, stderr } = spawnSync("sh", args, { encoding: "utf8" });
    expect(stderr).toBe("");
    return JSON.parse(stdout) as { opened: number; error: string };
  };

  it("what cannot be written whole is an error, and the file stays as it was", () => {
    const path = newPath();
    const { opened, error } = fillUp(path);
    expect(error).toMatch(/^bad-key-file: the key file .* cannot be made or changed: .* \(EFBIG\)$/);
    expect(opened).toBeGreaterThan(2);
    expect(readdirSync(join(path, ".."))).toEqual(["keys.json"]);
    const names = Array.from({ length: opened }, (_, window) => `task/${window}`);
    expect(Object.keys(readKeyFile(path).windows)).toEqual(names);
    const keyFile = openKeyFile(path);
    keyFile.openWindow("task", opened);
    expect(Object.keys(readKeyFile(path).windows)).toHaveLength(opened + 1);
  });

  it.each([
    ["cuts off", (text: string) => text.slice(0, -1)],
    ["alters", (text: string) => text.replace('"chain":"', '"chain":"A')],
  ])("what the disk %s without a word is an error, and the file stays as it was", (_what, damage) => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    const made = encodeBase64url(keyFile.openWindow("task", 1).reveal());
    const before = readFileSync(path, "utf8");
    disk.keeps = (text) => damage(String(text));
    onTestFinished(() => {
      disk.keeps = (text) => text;
    });
    expect(() => keyFile.openWindow("task", 2)).toThrow(LetheError);
    expect(() => keyFile.destroyWindow("task", 1)).toThrow(LetheError);
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(readdirSync(join(path, "..")).toSorted()).toEqual(["keys.json", "keys.json.lock"]);
    expect(encodeBase64url(keyFile.windowSecret("task", 1)?.reveal() ?? new Uint8Array())).toBe(made);
    expect(keyFile.windowSecret("task", 2)).toBeUndefined();
  });
});

describe("a key file is refused", () => {
  it.each([0o640, 0o604, 0o644, 0o660, 0o666, 0o610])("if others may use it: %o", (mode) => {
    const path = newPath();
    openKeyFile(path).close();
    chmodSync(path, mode);
    expect(refusalOf(path).message).toContain("chmod 600");
  });

  it("if it is in use", () => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    expect(refusalOf(path).message).toContain(`process ${process.pid}`);
    keyFile.close();
    openKeyFile(path).close();
  });

  it("if its folder is not there", () => {
    refusalOf(join(temporaryFolder(), "missing", "keys.json"));
  });

  it("if it is a folder", () => {
    refusalOf(temporaryFolder());
  });

  const damages: [string, (text: string) => string][] = [
    ["empty", () => ""],
    ["cut off", (text) => text.slice(0, -10)],
    ["binary", () => "\u0000\u0001".repeat(50)],
    ["not an object", () => "[1]"],
    ["of another version", (text) => text.replace('"version":1', '"version":2')],
    ["with a field too many", (text) => text.replace("{", '{"extra":1,')],
    ["with a field missing", (text) => text.replace(/"chain":"[^"]*",/, "")],
    ["with a short secret", (text) => text.replace(/"chain":"../, '"chain":"')],
    ["with a secret in another alphabet", (text) => text.replace(/"operator":"./, '"operator":"+')],
    ["with a window's secret that is too short", (text) => text.replace(/("task\/1":").*?"/, '$1AAAA"')],
  ];
  it.each(damages)("if it is %s, without a word of what is in it, and is not replaced", (_what, damage) => {
    const path = newPath();
    const keyFile = openKeyFile(path);
    keyFile.openWindow("task", 1);
    keyFile.close();
    const damaged = damage(readFileSync(path, "utf8"));
    writeFileSync(path, damaged);
    expect(refusalOf(path).message).toContain("damaged");
    expect(readFileSync(path, "utf8")).toBe(damaged);
  });
});

describe("a key file that several share", () => {
  it("has one operator's key, and windows that each of them opens for all", () => {
    const path = newPath();
    const [one, other] = [share(path), share(path)];
    expect(other.operatorKey).toBe(one.operatorKey);
    const first = one.openWindow("task", 1);
    expect(other.windowSecret("task", 1)?.reveal()).toEqual(first.reveal());
    const second = other.openWindow("task", 2);
    expect(one.openWindow("task", 2).reveal()).toEqual(second.reveal());
    expect(other.openWindow("task", 1).reveal()).toEqual(first.reveal());
    expect(Object.keys(readKeyFile(path).windows)).toEqual(["task/1", "task/2"]);
  });

  it("moves its one ratchet on, in whichever process a window opens", () => {
    const path = newPath();
    const all = [share(path), share(path), share(path)];
    const seen = new Set([readKeyFile(path).chain]);
    for (let i = 0; i < 12; i++) {
      all[i % all.length]?.openWindow("task", i);
      seen.add(readKeyFile(path).chain);
    }
    for (const text of Object.values(readKeyFile(path).windows)) seen.add(text);
    expect(seen.size).toBe(25);
  });

  it("forgets a window that one of them destroys: the others have it no more after a refresh, not even in memory", () => {
    const path = newPath();
    const [one, other] = [share(path), share(path)];
    const [gone, kept] = [one.openWindow("task", 1), one.openWindow("task", 2)];
    const [copy, keptCopy] = [other.windowSecret("task", 1), other.windowSecret("task", 2)];
    expect(copy?.reveal()).toEqual(gone.reveal());
    one.destroyWindow("task", 1);
    other.refresh();
    expect(other.windowSecret("task", 1)).toBeUndefined();
    expect(copy?.reveal()).toEqual(new Uint8Array(32));
    expect(other.windowSecret("task", 2)).toBe(keptCopy);
    expect(keptCopy?.reveal()).toEqual(kept.reveal());
  });

  it("does not get back what one destroyed when another, who has not heard of it, changes something", () => {
    const path = newPath();
    const [one, other] = [share(path), share(path)];
    for (const window of [1, 2]) one.openWindow("task", window);
    other.refresh();
    one.destroyWindow("task", 1);
    other.openWindow("task", 3);
    expect(Object.keys(readKeyFile(path).windows)).toEqual(["task/2", "task/3"]);
    one.destroyWindow("task", 2);
    other.destroyWindow("task", 2);
    other.destroyWindow("task", 3);
    expect(readKeyFile(path).windows).toEqual({});
  });

  it("is refused to them while somebody has it alone, and leaves nothing locked", () => {
    const path = newPath();
    const alone = openKeyFile(path);
    expect(() => share(path)).toThrow(`in use by process ${process.pid}`);
    alone.close();
    for (const keyFile of [share(path), share(path)]) keyFile.close();
    expect(readdirSync(join(path, ".."))).toEqual(["keys.json"]);
  });

  it("is whole for every reader, however fast another process replaces it", async () => {
    const path = newPath();
    const reader = share(path);
    const stays = encodeBase64url(reader.openWindow("stays", 0).reveal());
    // On a busy machine this process may see few of the writer's first 500 versions: this file tells when it has seen enough.
    const enough = `${newPath()}.enough`;
    const program = `
      import { existsSync } from "node:fs";
      import { openKeyFile } from ${JSON.stringify(built)};
      const keyFile = openKeyFile(${JSON.stringify(path)}, { severalProcesses: true });
      console.log("opened");
      let window = 0;
      for (; window < 500 || !existsSync(${JSON.stringify(enough)}); window++) {
        keyFile.openWindow("comes and goes", window);
        if (window >= 3) keyFile.destroyWindow("comes and goes", window - 3);
      }
      console.log(window);`;
    const args = ["--input-type=module", "--eval", program];
    const writer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(writer, "exit");
    const printed = text(writer.stdout);
    await once(writer.stdout, "data");
    const seen = new Set<bigint>();
    while (writer.exitCode === null && writer.signalCode === null) {
      reader.refresh();
      for (const keyFile of [reader, share(path)]) {
        expect(encodeBase64url(keyFile.windowSecret("stays", 0)?.reveal() ?? new Uint8Array())).toBe(stays);
      }
      seen.add(statSync(path, { bigint: true }).mtimeNs);
      if (seen.size > 20) writeFileSync(enough, "");
      await nextTurn();
    }
    expect(await ended).toEqual([0, null]);
    expect(seen.size).toBeGreaterThan(20);
    reader.refresh();
    const windows = Number((await printed).trim().split("\n").at(-1));
    for (let window = 0; window < windows; window++) {
      expect(reader.windowSecret("comes and goes", window) !== undefined).toBe(window >= windows - 3);
    }
  });
});

it("nothing about a key file prints a secret", () => {
  const path = newPath();
  const keyFile = openKeyFile(path);
  const made = keyFile.openWindow("task", 1);
  const printed = [
    inspect(keyFile, { depth: 9, showHidden: true }),
    JSON.stringify(keyFile),
    inspect(made),
    String(made),
  ];
  for (const text of printed) for (const hidden of secretsIn(path)) expect(text).not.toContain(hidden);
});
