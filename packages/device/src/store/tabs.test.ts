/// <reference lib="dom" />
import { randomUUID } from "node:crypto";
import { afterEach, expect, it, vi } from "vitest";
import { type ClosableTabs, tabsOf } from "./tabs.ts";

// Node's broadcast channels behave like those of browsers. It has no page.
const page = new EventTarget();
vi.stubGlobal("addEventListener", page.addEventListener.bind(page));

type Message = readonly unknown[];
const open: { close(): void }[] = [];
afterEach(() => {
  for (const tabs of open.splice(0)) tabs.close();
});

function tab(name: string): ClosableTabs {
  const tabs = tabsOf(name);
  open.push(tabs);
  return tabs;
}

/** Everything that is said on a channel. */
function listen(name: string): Message[] {
  const channel = new BroadcastChannel(name);
  const heard: Message[] = [];
  channel.onmessage = ({ data }) => heard.push(data);
  open.push(channel);
  return heard;
}

/** What a writer got. */
function writer(tabs: ClosableTabs): string[] {
  const got: string[] = [];
  tabs.receive((name, times) => got.push(`${name} ${times}`));
  return got;
}

const PATIENT = { timeout: 120_000, interval: 5 };

const eventually = (got: readonly unknown[], expected: readonly unknown[]): Promise<void> =>
  vi.waitFor(() => expect(got).toEqual(expected), PATIENT);

it("the writer gets every event in order, under names of any kind", async () => {
  const name = randomUUID();
  const [waiting, writing] = [tab(name), tab(name)];
  const got = writer(writing);
  for (const event of ["a", "", "b"]) waiting.forward(event, 2);
  await eventually(got, ["a 2", " 2", "b 2"]);
});

it("a tab that becomes the writer begins with its own events that nobody took", async () => {
  const name = randomUUID();
  const [one, two] = [tab(name), tab(name)];
  one.forward("mine", 1);
  two.forward("yours", 1);
  const got = writer(one);
  expect(got).toEqual(["mine 1"]);
  await eventually(got, ["mine 1", "yours 1"]);
});

it("a new writer gets what the last one did not acknowledge; what was acknowledged is gone from memory", async () => {
  const name = randomUUID();
  const [waiting, first, second] = [tab(name), tab(name), tab(name)];
  const early = writer(first);
  waiting.forward("a", 1);
  await eventually(early, ["a 1"]);
  first.close();
  waiting.forward("b", 1);
  waiting.forward("c", 1);
  const late = writer(second);
  waiting.forward("d", 1);
  await eventually(late, ["b 1", "c 1", "d 1"]);
  expect(early).toEqual(["a 1"]);
});

it("a writer that begins to listen amid the events of a tab misses none of them", async () => {
  const name = randomUUID();
  const waiting = tab(name);
  waiting.forward("a", 1);
  const late = tab(name);
  // On its way when the writer begins, before the writer could ask for what was sent earlier.
  waiting.forward("b", 1);
  await eventually(writer(late), ["a 1", "b 1"]);
});

it("a writer folds in and acknowledges what bears its address, and answers everything else with its address", async () => {
  const name = randomUUID();
  const heard = listen(name);
  const got = writer(tab(name));
  const sender = new BroadcastChannel(name);
  open.push(sender);
  await vi.waitFor(() => expect(heard).toHaveLength(1), PATIENT);
  const [greeting] = heard.splice(0);
  const address = greeting?.[0];
  for (const to of [undefined, "another", address]) sender.postMessage([to, `to ${to}`, "a", 1]);
  await vi.waitFor(() => expect(heard).toHaveLength(6), PATIENT);
  expect(heard.filter((message) => message.length === 2)).toEqual([greeting, greeting]);
  expect(heard.filter((message) => typeof message === "string")).toEqual([`to ${address}`]);
  expect(got).toEqual(["a 1"]);
});

it("ids and addresses are random: no message shows how many came before", async () => {
  const name = randomUUID();
  const heard = listen(name);
  const [waiting, writing] = [tab(name), tab(name)];
  const got = writer(writing);
  for (let i = 0; i < 20; i++) waiting.forward("a", 1);
  await vi.waitFor(() => expect(got).toHaveLength(20), PATIENT);
  const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const parts = heard.flatMap((message) => (typeof message === "string" ? [message] : message));
  expect(parts.filter((part) => part !== undefined && part !== "a" && part !== 1 && !UUID.test(`${part}`))).toEqual([]);
});

it("a writer that stopped, or whose page is closing, leaves what comes for the next", async () => {
  const name = randomUUID();
  const [waiting, stopped, hidden, next] = [tab(name), tab(name), tab(name), tab(name)];
  const got = [writer(stopped), writer(hidden)];
  stopped.stop();
  page.dispatchEvent(new Event("pagehide"));
  waiting.forward("a", 1);
  const heard = listen(name);
  waiting.forward("b", 1);
  await vi.waitFor(() => expect(heard).not.toEqual([]), PATIENT);
  expect(got).toEqual([[], []]);
  page.dispatchEvent(new Event("pageshow"));
  // Shown again, it asks for what it left.
  await eventually(got, [[], ["a 1", "b 1"]]);
  hidden.stop();
  waiting.forward("c", 1);
  await eventually(writer(next), ["c 1"]);
});

it("a tab that stopped waiting has nothing left to send", async () => {
  const name = randomUUID();
  const waiting = tab(name);
  waiting.forward("a", 1);
  waiting.stop();
  const got = writer(tab(name));
  waiting.forward("b", 1);
  await eventually(got, ["b 1"]);
});
