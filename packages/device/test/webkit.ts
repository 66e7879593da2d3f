import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import type { Readable } from "node:stream";
import { callOf, type RunningBrowser, type Tab } from "./tab.ts";

const START_MS = 120_000;

/**
 * WebKitGTK's own browser, on a display in memory, by the WebDriver protocol (https://www.w3.org/TR/webdriver2/). What
 * is automated is private: it stores everything, until it is closed.
 */
export async function launchWebKit(driverPath: string): Promise<RunningBrowser> {
  const display = spawn("Xvfb", ["-displayfd", "3", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const number = await firstLine(display, display.stdio[3] as Readable);
  const port = await freePort();
  const driver = spawn(driverPath, [`--port=${port}`, "--host=127.0.0.1"], {
    stdio: "ignore",
    env: { ...process.env, DISPLAY: `:${number}` },
    // In its own process group: what it starts can be ended with it.
    detached: true,
  });
  const end = (): void => {
    try {
      if (driver.pid) process.kill(-driver.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    display.kill();
  };
  try {
    const call = await openSession(`http://127.0.0.1:${port}`);
    // It stays open: without a window the session ends.
    const first = await call<string>("GET", "/window");
    const inWindow = takingTurns(call);
    return {
      openTab: () => openTab(inWindow, first),
      close: async () => {
        await call("DELETE", "").finally(end);
      },
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** A command of the session: method, path, parameters. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

async function openSession(url: string): Promise<Call> {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const { value } = (await response.json()) as { value: T };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  };
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await ask("GET", "/status");
      break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const { sessionId } = await ask<{ sessionId: string }>("POST", "/session", { capabilities: {} });
  return (method, path, body) => ask(method, `/session/${sessionId}${path}`, body);
}

/** Commands go to the window that was chosen last: one after the other, each after its choice. */
function takingTurns(call: Call): (window: string) => Call {
  let turn: Promise<unknown> = Promise.resolve();
  return (handle) => (method, path, body) => {
    const answer = turn.then(() => call("POST", "/window", { handle })).then(() => call<never>(method, path, body));
    turn = answer.catch(() => {});
    return answer;
  };
}

async function openTab(inWindow: (window: string) => Call, first: string): Promise<Tab> {
  const { handle } = await inWindow(first)<{ handle: string }>("POST", "/window/new", { type: "tab" });
  const inTab = inWindow(handle);
  return {
    goto: (url) => inTab("POST", "/url", { url }),
    reload: () => inTab("POST", "/refresh", {}),
    evaluate: async <A extends readonly unknown[], T>(act: (...args: A) => T | Promise<T>, ...args: A) => {
      const script = `const done = arguments[0];
        (async () => ${callOf(act, args)})().then((value) => done({ value }), (error) => done({ error: String(error) }))`;
      const { value, error } = await inTab<{ value: T; error?: string }>("POST", "/execute/async", {
        script,
        args: [],
      });
      if (error !== undefined) throw new Error(error);
      return value;
    },
    close: async () => {
      await inTab("DELETE", "/window");
    },
  };
}

function firstLine(from: ChildProcess, output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    from.once("error", reject);
    from.once("exit", (code) => reject(new Error(`Xvfb ended with code ${code}`)));
    output.once("data", (bytes) => resolve(String(bytes).trim()));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}
