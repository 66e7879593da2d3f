import type { Price } from "../pke/small-space-price.ts";
import type { ErrorsByClients, Transmission } from "../pke/transmission.ts";
import type { Plot, Point } from "../plot/index.ts";
import type { Table } from "./experiment.ts";
import type { PkeResult } from "./pke-from-pan-privacy.ts";

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const rough = (value: number): string => (value >= 1000 ? whole(value) : String(Number(value.toPrecision(3))));

export function pkeTables({ counters, byClients, smallSpace }: PkeResult): Table[] {
  return [
    {
      caption: "Messages sent with keys made of simulated clients",
      columns: [
        "counter",
        "message",
        "received",
        "clients",
        "wrong bits",
        "of",
        "public key",
        "a bit encrypted",
        "read with a made-up key",
      ],
      rows: [...counters, smallSpace.transmission].map(transmissionRow),
      words: 3,
    },
    {
      caption: `Wrong bits against the number of clients, ${counters[0]?.counter}`,
      columns: ["clients", "wrong bits", "of", "expected"],
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

/** One paragraph, from the figures. */
export function describePke({ counters, byClients, smallSpace }: PkeResult): string {
  const { transmission, byTicks, longWindow } = smallSpace;
  return [
    ...counters.map(describeTransmission),
    describeErrors(byClients),
    describeWithout(transmission),
    describeDistances(byTicks),
    `A window of ${whole(longWindow.ticks)} ticks takes ${longWindow.squarings} squarings of a matrix of ${2 * longWindow.states} rows, for ${longWindow.states} states with the event and without.`,
  ].join(" ");
}

function describeTransmission({ counter, message, clients, bitErrors, bits, withoutKey }: Transmission): string {
  const came = bitErrors === 0 ? `came out whole` : `did NOT come out: ${bitErrors} of ${bits} bits are wrong`;
  const stranger = readByStranger(withoutKey);
  return `With ${counter} and ${clients} clients a bit, “${message}” ${came}; ${stranger}.`;
}

function readByStranger({ advantage, bits }: Transmission["withoutKey"]): string {
  if (advantage === 0) return "a made-up private key reads nothing of it";
  if (Math.abs(advantage) >= 0.5) return `but a made-up private key READS it too (advantage ${rough(advantage)})`;
  return `a made-up private key has an advantage of ${rough(advantage)} in ${bits} bits, where a coin may have as much`;
}

function describeErrors(byClients: readonly ErrorsByClients[]): string {
  const share = ({ bitErrors, bits }: ErrorsByClients): string => `${rough((100 * bitErrors) / bits)}%`;
  const [first, last] = [byClients[0], byClients.at(-1)] as [ErrorsByClients, ErrorsByClients];
  return `With ${first.clients} client${first.clients === 1 ? "" : "s"} ${share(first)} of bits were wrong, with ${last.clients} ${share(last)}.`;
}

function describeWithout({ ticks, clients, bitErrors, withoutKey }: Transmission): string {
  const read = bitErrors === 0 ? "can be read as well" : `cannot be read (${bitErrors} wrong bits)`;
  const stranger =
    withoutKey.bitErrors === 0 ? "by everybody: it has no secret to keep" : "by the owner of the key only";
  return `The counter without cryptography ${read} with ${whole(clients)} clients a bit for ${ticks} ticks, ${stranger}.`;
}

function describeDistances(byTicks: readonly Price[]): string {
  const within = byTicks.every(({ distance, distanceBound }) => distance <= distanceBound);
  const least = Math.min(...byTicks.map(({ ciphertextDistanceBound }) => ciphertextDistanceBound));
  const lemma = within
    ? "One client's state tells 0 from 1 no better than the paper's lemma allows"
    : "One client's state tells 0 from 1 BETTER than the paper's lemma allows";
  const price =
    least >= 1
      ? `but times the clients that it takes to read a bit, that is ${rough(least)} or more, and from 1 on it protects nothing`
      : "and for some window even times the clients that it takes to read a bit, which the paper's lower bound EXCLUDES";
  return `${lemma}, ${price}.`;
}

export function pkePlot({ counters: [lethe], byClients, smallSpace }: PkeResult): Plot {
  const measured = (rows: readonly ErrorsByClients[]): Point[] =>
    rows.map(({ clients, bitErrors, bits }) => [clients, bitErrors / bits]);
  const expected = ({ theory }: Transmission): Point[] => theory.map(({ clients, bound }) => [clients, bound]);
  const without = smallSpace.transmission;
  const dashed = { style: "dashed", marks: false } as const;
  return {
    title: "A message encrypted into the states of simulated devices",
    x: { label: "clients simulated for a bit", scale: "log" },
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
    note: "Where no bit was wrong there is no mark. Messages are sent with as many clients as where the dashed lines end.",
  };
}
