import { join, split } from "../../bytes.ts";
import {
  type AdditiveScheme,
  type DeviceKeyContext,
  type DeviceScheme,
  deriveDevicePublicKey,
  deriveDeviceSecretKey,
} from "../../encryption/index.ts";
import { LetheError, requireLength, requireWhole } from "../../error.ts";
import type { Randomness } from "../../randomness/index.ts";
import { type CiphertextMachine, deviceSide } from "../recorder.ts";
import { type AnswerReader, type DeviceSide, readOrDraw, type ServerSide } from "../statistic.ts";
import { DEFAULT_HIDES, type WritesSpec } from "../writes.ts";
import { periodOf } from "./automaton.ts";
import type { Encryptor, Sealing } from "./sealing.ts";
import { type Move, repeated, requireFewSlots, type Slots } from "./slots.ts";

/** What a device needs of a scheme: bits that it encrypts and rerandomizes, and adds if a move has sums. */
export type SlotScheme<PublicKey, Ciphertext> = DeviceScheme<PublicKey, Ciphertext> & {
  add?(left: Ciphertext, right: Ciphertext): Ciphertext;
};

/** The schemes on which every automaton runs: integers that add up under encryption. */
export interface CounterScheme<PublicKey, SecretKey, Ciphertext>
  extends AdditiveScheme<number, PublicKey, SecretKey, Ciphertext> {
  /**
   * Decodes and decrypts, with the same work whether there is a message or not. Without it, time shows which
   * ciphertexts of a report have none.
   */
  open?(secretKey: SecretKey, bytes: Uint8Array): number | undefined;
  /** The public key of `generateKeys`, encoded: a quicker way to it. */
  issueKey?(random: Randomness): Uint8Array;
}

/** An automaton's slots, and how they are sealed. */
export interface EncryptedAutomaton<Ciphertext> {
  readonly slots: Slots;
  readonly sealing: Sealing<Ciphertext>;
}

/** The slots of each automaton, and how many periods have ended. */
interface VectorState<Ciphertext> {
  readonly vectors: readonly (readonly Ciphertext[])[];
  readonly ends: number;
}

/** A table of a key's multiples makes encrypting several times faster, and takes 700 kB. */
const MOST_TABLES = 32;
/** The number of ends that were applied comes before the ciphertexts, 32 bits, little-endian, where there are periods. */
const ENDS_BYTES = 4;

/**
 * Runs automata on a device: all write together, and end their periods together, which are those of the first. Every
 * automaton has its own key, so that what is in a slot of one cannot be put into another; `keys` is 1 where all share
 * one. The paper writes
 * Rerandomize^t(Enc(·)) so that no path shows how many rerandomizations it took; a scheme that hides them perfectly
 * needs Enc(·) only, so one is required.
 */
export function encryptedAutomata<PublicKey, Ciphertext>(
  scheme: SlotScheme<PublicKey, Ciphertext>,
  { ticks, hides = DEFAULT_HIDES }: WritesSpec,
  automata: readonly EncryptedAutomaton<Ciphertext>[],
  keys: number = automata.length,
): DeviceSide {
  const lengths = automata.map(({ slots }) => slots.initial.length);
  const length = lengths.reduce((sum, each) => sum + each, 0);
  requireFewSlots(length);
  if (!scheme.hidesRerandomizations) {
    throw new TypeError(`${scheme.id} shows the key holder how often a ciphertext was rerandomized`);
  }
  const { periods, periodTicks } = slotsOf(automata, 0);
  const endsBytes = periods > 1 ? ENDS_BYTES : 0;
  const symbols = automata.flatMap(({ slots }, i) => slots.events.map((name, event) => ({ name, i, event })));
  const bytes = {
    ciphertexts: endsBytes + length * scheme.ciphertextBytes,
    report: automata.reduce((sum, { sealing }) => sum + sealing.length, 0) * scheme.ciphertextBytes,
    publicKey: keys * scheme.publicKeyBytes,
  };

  function machine(publicKey: Uint8Array, random: Randomness): CiphertextMachine<VectorState<Ciphertext>> {
    requireLength("a public key", publicKey, bytes.publicKey);
    const encryptors = split(publicKey, keys).map((key) =>
      encryptorOf(scheme, scheme.decodePublicKey(key, keys <= MOST_TABLES), random),
    );
    const encryptorAt = (i: number): Encryptor<Ciphertext> => encryptors[i % keys] as Encryptor<Ciphertext>;

    function ended({ vectors, ends }: VectorState<Ciphertext>): VectorState<Ciphertext> {
      const moved = vectors.map((slots, i) => encryptorAt(i).move(slots, slotsOf(automata, i).onEnd(ends)));
      return { vectors: moved, ends: ends + 1 };
    }

    return {
      ticks,
      hides,
      eventsPerTick: Number.POSITIVE_INFINITY,
      ciphertextBytes: bytes.ciphertexts,
      start: () => ({
        vectors: automata.map(({ slots }, i) => slots.initial.map(encryptorAt(i).encrypt)),
        ends: 0,
      }),
      rerandomize: ({ vectors, ends }) => ({
        vectors: vectors.map((slots, i) => slots.map(encryptorAt(i).rerandomize)),
        ends,
      }),
      fold: ({ vectors, ends }, symbol, times) => {
        requireWhole("times", times, 1, Number.MAX_SAFE_INTEGER);
        const { i, event } = symbols[symbol] as (typeof symbols)[number];
        const move = repeated(slotsOf(automata, i).onEvent(event, ends), times);
        return { vectors: vectors.with(i, encryptorAt(i).move(vectors[i] as Ciphertext[], move)), ends };
      },
      reach: (state, tick) => {
        const due = periodOf({ periods, periodTicks }, tick);
        let reached = state;
        while (reached.ends < due) reached = ended(reached);
        return reached;
      },
      encode: ({ vectors, ends }) => {
        const prefix = new Uint8Array(endsBytes);
        if (endsBytes > 0) new DataView(prefix.buffer).setUint32(0, ends, true);
        return join([prefix, ...vectors.flat().map(scheme.encode)]);
      },
      decode: (stored) => {
        requireLength("the ciphertexts of a state", stored, bytes.ciphertexts);
        const slots = split(stored.subarray(endsBytes), length).map(scheme.decode);
        const vectors = lengths.map((each) => slots.splice(0, each));
        return { vectors, ends: endsBytes > 0 ? endsIn(stored, periods) : 0 };
      },
      seal: (state) => {
        let last = state;
        while (last.ends < periods) last = ended(last);
        const drawn = automata.map(({ sealing }) => sealing.draw(random));
        const report = drawn.flatMap((seal, i) => seal(last.vectors[i] as Ciphertext[], encryptorAt(i)));
        return join(report.map(scheme.encode));
      },
    };
  }

  return deviceSide(
    bytes,
    symbols.map(({ name }) => name),
    machine,
  );
}

function slotsOf<C>(automata: readonly EncryptedAutomaton<C>[], i: number): Slots {
  return (automata[i] as EncryptedAutomaton<C>).slots;
}

function endsIn(stored: Uint8Array, periods: number): number {
  const ends = new DataView(stored.buffer, stored.byteOffset, stored.length).getUint32(0, true);
  if (ends < periods) return ends;
  throw new LetheError("bad-encoding", `a stored state has ended fewer than ${periods} periods, not ${ends}`);
}

function encryptorOf<P, C>(scheme: SlotScheme<P, C>, publicKey: P, random: Randomness): Encryptor<C> {
  const encrypt = (message: number): C => scheme.encrypt(publicKey, message, random);
  // Where a scheme does not add, no move has sums.
  const add = (left: C, right: C): C => (scheme as Required<typeof scheme>).add(left, right);
  return {
    encrypt,
    rerandomize: (ciphertext) => scheme.rerandomize(publicKey, ciphertext, random),
    move: (slots, move: Move) =>
      move.map((sources) =>
        typeof sources === "number" ? encrypt(sources) : sources.map((source) => slots[source] as C).reduce(add),
      ),
  };
}

/** The part of the server's half that is the same for all automata; `keys` as for the device. */
export function automataServer<PublicKey, SecretKey, Ciphertext>(
  scheme: CounterScheme<PublicKey, SecretKey, Ciphertext>,
  { reportLength, keys }: { readonly reportLength: number; readonly keys: number },
  answers: AnswerReader<number>,
): Pick<ServerSide, "issueKey" | "open"> {
  const contextsOf = (context: DeviceKeyContext): DeviceKeyContext[] =>
    Array.from({ length: keys }, (_, i) => ({ ...context, index: context.index + i }));
  const open = scheme.open ?? ((secretKey, bytes) => decodeAndDecrypt(scheme, secretKey, bytes));
  const generateAndEncode = (random: Randomness) => scheme.encodePublicKey(scheme.generateKeys(random).publicKey);
  const issuing = { id: scheme.id, issueKey: scheme.issueKey ?? generateAndEncode };
  return {
    issueKey: (master, context) =>
      join(contextsOf(context).map((each) => deriveDevicePublicKey(issuing, master, each))),
    open: (master, context, report, random) => {
      if (report.length !== reportLength * scheme.ciphertextBytes) return readOrDraw(answers, random, undefined);
      const secretKeys = contextsOf(context).map((each) => deriveDeviceSecretKey(scheme, master, each));
      const messages = split(report, reportLength).map((bytes, i) => open(secretKeys[i % keys] as SecretKey, bytes));
      const intact = !messages.includes(undefined);
      return readOrDraw(answers, random, { opened: messages.map((message) => message ?? 0), intact });
    },
  };
}

function decodeAndDecrypt<P, SecretKey, C>(
  scheme: CounterScheme<P, SecretKey, C>,
  secretKey: SecretKey,
  bytes: Uint8Array,
): number | undefined {
  try {
    return scheme.decrypt(secretKey, scheme.decode(bytes));
  } catch (error) {
    if (error instanceof LetheError) return undefined;
    throw error;
  }
}
