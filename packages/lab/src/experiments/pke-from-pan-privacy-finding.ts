import type { Price } from "../pke/small-space-price.ts";
import type { ErrorsByClients, Transmission } from "../pke/transmission.ts";
import { type Plot, type Point, renderSvg } from "../plot/index.ts";
import type { Finding, Table } from "./experiment.ts";
import { counted, rough as roughly, whole } from "./figures.ts";
import type { PkeResult } from "./pke-from-pan-privacy.ts";

const rough = (value: number): string => roughly(value, 3);

/** Tables, picture and reading from the figures. */
export function describePke(result: PkeResult): Finding {
  return { json: result, tables: tablesOf(result), reading: readingOf(result), svg: renderSvg(pkePlot(result)) };
}

function tablesOf({ counters, byClients, smallSpace }: PkeResult): Table[] {
  return [
    {
      caption: "Messages sent with keys made of simulated clients",
      columns: [
        "counter",
        "message",
        "received",
        "clients",
        "wrong bits",
        "bits",
        "public key",
        "ciphertext of a bit",
        "read with a made-up key",
      ],
      rows: [...counters, smallSpace.transmission].map(transmissionRow),
      words: 3,
    },
    {
      caption: `Wrong bits against the number of clients, ${counters[0]?.counter}`,
      columns: ["clients", "wrong bits", "bits", "expected"],
      rows: byClients.map(({ clients, bitErrors, bits, bound }) => [
        whole(clients),
        whole(bitErrors),
        whole(bits),
        rough(bits * bound),
      ]),
      words: 0,
    },
    {
      caption: `Theorem 6.2 with a counter without cryptography, ε = ${smallSpace.epsilon}`,
      columns: [
        "ticks",
        "states",
        "distance of a client's states",
        "its bound",
        "clients to be read",
        "clients × distance",
      ],
      rows: smallSpace.byTicks.map((price) => [
        whole(price.ticks),
        whole(price.states),
        rough(price.distance),
        rough(price.distanceBound),
        whole(price.clients),
        rough(price.ciphertextDistanceBound),
      ]),
      words: 0,
    },
  ];
}

function transmissionRow({ counter, message, received, clients, bitErrors, bits, bytes, withoutKey }: Transmission) {
  return [
    counter,
    `“${message}”`,
    `“${received}”`,
    whole(clients),
    whole(bitErrors),
    whole(bits),
    `${whole(bytes.publicKey)} B`,
    `${whole(bytes.ciphertext)} B`,
    readBy(withoutKey),
  ];
}

function readBy({ bitErrors, advantage }: Transmission["withoutKey"]): string {
  if (bitErrors === 0) return "everything";
  return advantage === 0 ? "nothing" : `advantage ${rough(advantage)}`;
}

function readingOf({ counters, byClients, smallSpace }: PkeResult): string {
  const { transmission, byTicks, longWindow } = smallSpace;
  return [
    ...counters.map(describeTransmission),
    describeErrors(byClients),
    describeWithout(transmission),
    describeDistances(byTicks),
    `A window of ${whole(longWindow.ticks)} ticks takes ${longWindow.squarings} squarings of a matrix of ${2 * longWindow.states} rows: ${longWindow.states} states with the event, and as many without.`,
  ].join(" ");
}

function describeTransmission({ counter, message, clients, bitErrors, bits, withoutKey }: Transmission): string {
  const came = bitErrors === 0 ? `came out whole` : `did NOT come out: ${bitErrors} of ${bits} bits are wrong`;
  const stranger = readByStranger(withoutKey);
  return `With ${counter} and ${clients} clients per bit, “${message}” ${came}; ${stranger}.`;
}

function readByStranger({ advantage, bits }: Transmission["withoutKey"]): string {
  if (advantage === 0) return "a made-up private key reads nothing of it";
  if (Math.abs(advantage) >= 0.5) return `but a made-up private key READS it too (advantage ${rough(advantage)})`;
  return `a made-up private key has an advantage of ${rough(advantage)} in ${bits} bits, where a coin may have as much`;
}

function describeErrors(byClients: readonly ErrorsByClients[]): string {
  const share = ({ bitErrors, bits }: ErrorsByClients): string => `${rough((100 * bitErrors) / bits)}%`;
  const [first, last] = [byClients[0], byClients.at(-1)] as [ErrorsByClients, ErrorsByClients];
  return `With ${counted(first.clients, "client")}, ${share(first)} of bits were wrong; with ${counted(last.clients, "client")}, ${share(last)}.`;
}

function describeWithout({ ticks, clients, bitErrors, withoutKey }: Transmission): string {
  const read = bitErrors === 0 ? "can be read as well" : `cannot be read (${bitErrors} wrong bits)`;
  const stranger =
    withoutKey.bitErrors === 0 ? "by everybody: it has no secret to keep" : "by the owner of the key only";
  return `With the counter without cryptography, and ${whole(clients)} clients per bit for ${ticks} ticks, the message ${read}, ${stranger}.`;
}

function describeDistances(byTicks: readonly Price[]): string {
  const within = byTicks.every(({ distance, distanceBound }) => distance <= distanceBound);
  const least = Math.min(...byTicks.map(({ ciphertextDistanceBound }) => ciphertextDistanceBound));
  const lemma = within
    ? "The state of one client distinguishes 0 from 1 no better than the paper's lemma allows"
    : "The state of one client distinguishes 0 from 1 BETTER than the paper's lemma allows";
  const price =
    least >= 1
      ? `Multiplied by the number of clients that it takes to read a bit, that is ${rough(least)} or more, and from 1 on it protects nothing`
      : "For some window that holds even if multiplied by the number of clients that it takes to read a bit, which the paper's lower bound EXCLUDES";
  return `${lemma}. ${price}.`;
}

/** Wrong bits against the number of clients. */
export function pkePlot({ counters: [lethe], byClients, smallSpace }: PkeResult): Plot {
  const measured = (rows: readonly ErrorsByClients[]): Point[] =>
    rows.map(({ clients, bitErrors, bits }) => [clients, bitErrors / bits]);
  const expected = ({ theory }: Transmission): Point[] => theory.map(({ clients, bound }) => [clients, bound]);
  const without = smallSpace.transmission;
  const dashed = { style: "dashed", marks: false } as const;
  return {
    title: "A message encrypted into the states of simulated devices",
    x: { label: "clients simulated per bit", scale: "log" },
    y: { label: "share of bits read wrongly", scale: "log" },
    lines: [
      { name: `${lethe.counter}: measured`, points: measured(byClients), marks: true },
      { name: `${lethe.counter}: exact`, points: expected(lethe), ...dashed },
      {
        name: `no cryptography, ${without.ticks} ticks: measured`,
        points: measured(smallSpace.byClients),
        marks: true,
      },
      { name: "no cryptography: at most, by Chernoff", points: expected(without), ...dashed },
    ],
    note: "Where no bit was wrong there is no mark. Messages are sent with the number of clients at which the dashed lines end.",
  };
}
