import type { Randomness } from "@lethe/core/randomness";
import type { Bit, PanPrivateCounter } from "./counter.ts";

/** Encrypts a single bit. */
export interface PublicKeyEncryption {
  generateKeys(random: Randomness): KeyPair;
  encrypt(publicKey: PublicKey, bit: Bit, random: Randomness): Ciphertext;
  /** Needs no secret. Refuses a ciphertext that has no tick left. */
  rerandomize(publicKey: PublicKey, ciphertext: Ciphertext, random: Randomness): Ciphertext;
  decrypt(keys: KeyPair, ciphertext: Ciphertext, random: Randomness): Bit;
}

/** One entry for every simulated client. */
interface PublicKey {
  readonly clients: readonly { readonly parameters: Uint8Array; readonly state: Uint8Array }[];
}

/** Both keys. */
export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly privateKey: readonly Uint8Array[];
}

/** (t, {s_t^(i)}): what the clients have stored after tick t. */
interface Ciphertext {
  readonly tick: number;
  readonly states: readonly Uint8Array[];
}

/** How clients are taken through time. `begin` is the randomized process whose outcome is the ciphertext. */
export interface Simulation {
  begin(parameters: Uint8Array, state: Uint8Array, bit: Bit, random: Randomness): Uint8Array;
  /** The tick that `begin` ends with. */
  readonly firstTick: number;
  /** Ticks in which nothing happens. */
  pass(parameters: Uint8Array, state: Uint8Array, ticks: number, random: Randomness): Uint8Array;
}

/** Thm. 6.1: the bit happens, or does not, in every client's first tick, and time passes tick by tick. */
export function encryptionFrom(counter: PanPrivateCounter, clients: number): PublicKeyEncryption {
  return encryptionBySimulation(counter, clients, {
    begin: counter.update,
    firstTick: 1,
    pass: (parameters, state, ticks, random) => {
      let passed = state;
      for (let i = 0; i < ticks; i++) passed = counter.update(parameters, passed, 0, random);
      return passed;
    },
  });
}

/** What both theorems share: n clients live through the same stream, and are asked at the end. */
export function encryptionBySimulation(
  counter: Pick<PanPrivateCounter, "initialize" | "output" | "estimate" | "ticks">,
  clients: number,
  { begin, firstTick, pass }: Simulation,
): PublicKeyEncryption {
  const passAll = ({ clients }: PublicKey, states: readonly Uint8Array[], ticks: number, random: Randomness) =>
    clients.map(({ parameters }, i) => pass(parameters, states[i] as Uint8Array, ticks, random));
  return {
    generateKeys: (random) => {
      const made = Array.from({ length: clients }, () => counter.initialize(random));
      return {
        publicKey: { clients: made.map(({ parameters, state }) => ({ parameters, state })) },
        privateKey: made.map(({ server }) => server),
      };
    },
    encrypt: ({ clients }, bit, random) => ({
      tick: firstTick,
      states: clients.map(({ parameters, state }) => begin(parameters, state, bit, random)),
    }),
    rerandomize: (publicKey, { tick, states }, random) => {
      if (tick >= counter.ticks) throw new RangeError(`a ciphertext has ${counter.ticks} ticks, no more`);
      return { tick: tick + 1, states: passAll(publicKey, states, 1, random) };
    },
    decrypt: ({ publicKey, privateKey }, { tick, states }, random) => {
      const last = passAll(publicKey, states, counter.ticks - tick, random);
      const outputs = publicKey.clients.map(({ parameters }, i) =>
        counter.output(parameters, last[i] as Uint8Array, random),
      );
      return counter.estimate(privateKey, outputs, random) < outputs.length / 2 ? 0 : 1;
    },
  };
}
