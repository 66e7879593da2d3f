/**
 * For servers: a page's policy may forbid WebAssembly. They derive a device's lattice keys twice as fast with it as with
 * the JavaScript of `turboshake.ts`, and verify a bit of `prio3Count` 4 times as fast.
 *
 * Keccak-p[1600, 12] (FIPS 202, §3.3) for WebAssembly, put together at run time, because a round is written shorter
 * than its 700 instructions. The state is at the beginning of the memory; lane x, y at 8·(x + 5y).
 */
export interface AssembledPermutation {
  readonly memory: ArrayBuffer;
  permute(): void;
}

/** Undefined where there is no WebAssembly, or where a page's policy forbids it. */
export function assemblePermutation(): AssembledPermutation | undefined {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleOf(permutation())));
    return { memory: exports.memory.buffer, permute: exports.permute };
  } catch {
    return undefined;
  }
}

/** What there is of it in every engine; its types come with a browser's or Node's, and core has neither. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; permute(): void } };
};

type Code = readonly number[];

const I32_CONST_0 = [0x41, 0] as const;
const I64_LOAD = 0x29;
const I64_STORE = 0x37;
const I64_CONST = 0x42;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const I64_AND = 0x83;
const I64_XOR = 0x85;
const I64_ROTL = 0x89;
const END = 0x0b;
const ALIGNED_TO_8 = 3;

const get = (local: number): Code => [LOCAL_GET, local];
const set = (local: number, value: Code): Code => [...value, LOCAL_SET, local];
const constant = (value: bigint): Code => [I64_CONST, ...signedLeb128(value)];
const xor = (...values: readonly Code[]): Code => values.flatMap((value, i) => (i === 0 ? value : [...value, I64_XOR]));
const and = (left: Code, right: Code): Code => [...left, ...right, I64_AND];
const not = (value: Code): Code => xor(value, constant(-1n));
const rotate = (value: Code, by: number): Code => (by === 0 ? value : [...value, ...constant(BigInt(by)), I64_ROTL]);
const load = (lane: number): Code => [...I32_CONST_0, I64_LOAD, ALIGNED_TO_8, ...leb128(8 * lane)];
const store = (lane: number, value: Code): Code => [
  ...I32_CONST_0,
  ...value,
  I64_STORE,
  ALIGNED_TO_8,
  ...leb128(8 * lane),
];

/** Local variables: the lanes, the same after ρ and π, the parities of the columns, and what θ adds to them. */
const lane = (x: number, y: number): number => (x % 5) + 5 * (y % 5);
const moved = (x: number, y: number): number => 25 + lane(x, y);
const parity = (x: number): number => 50 + (x % 5);
const change = (x: number): number => 55 + x;
const LOCALS = 60;

/** ι of the last 12 of Keccak's 24 rounds. */
const CONSTANTS = [
  0x8000808bn,
  0x800000000000008bn,
  0x8000000000008089n,
  0x8000000000008003n,
  0x8000000000008002n,
  0x8000000000000080n,
  0x800an,
  0x800000008000000an,
  0x8000000080008081n,
  0x8000000000008080n,
  0x80000001n,
  0x8000000080008008n,
] as const;

/** By how many bits ρ rotates a lane. */
function rotations(): readonly number[] {
  const by = new Array<number>(25).fill(0);
  for (let t = 0, x = 1, y = 0; t < 24; t++) {
    by[lane(x, y)] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return by;
}

const FIVE = [0, 1, 2, 3, 4] as const;

function permutation(): Code {
  const rho = rotations();
  const each = (code: (x: number, y: number) => Code): Code => FIVE.flatMap((x) => FIVE.flatMap((y) => code(x, y)));
  const theta = [
    ...FIVE.flatMap((x) => set(parity(x), xor(...FIVE.map((y) => get(lane(x, y)))))),
    ...FIVE.flatMap((x) => set(change(x), xor(get(parity(x + 4)), rotate(get(parity(x + 1)), 1)))),
  ];
  const rhoAndPi = each((x, y) => {
    return set(moved(y, 2 * x + 3 * y), rotate(xor(get(lane(x, y)), get(change(x))), rho[lane(x, y)] as number));
  });
  const chi = each((x, y) =>
    set(lane(x, y), xor(get(moved(x, y)), and(not(get(moved(x + 1, y))), get(moved(x + 2, y))))),
  );
  const iota = (round: bigint): Code => set(0, xor(get(0), constant(round)));
  return [
    ...each((x, y) => set(lane(x, y), load(lane(x, y)))),
    ...CONSTANTS.flatMap((round) => [...theta, ...rhoAndPi, ...chi, ...iota(round)]),
    ...each((x, y) => store(lane(x, y), get(lane(x, y)))),
  ];
}

/** One page of memory and one function without parameters, both exported (WebAssembly Core Specification, §5.5). */
function moduleOf(code: Code): Uint8Array {
  const section = (id: number, content: Code): Code => [id, ...leb128(content.length), ...content];
  const name = (text: string): Code => [text.length, ...Array.from(text, (character) => character.charCodeAt(0))];
  const [TYPE, FUNCTION, MEMORY, EXPORT, CODE] = [1, 3, 5, 7, 10];
  const I64 = 0x7e;
  const body = [1, LOCALS, I64, ...code, END];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(TYPE as number, [1, 0x60, 0, 0]),
    ...section(FUNCTION as number, [1, 0]),
    ...section(MEMORY as number, [1, 1, 1, 1]),
    ...section(EXPORT as number, [2, ...name("memory"), 2, 0, ...name("permute"), 0, 0]),
    ...section(CODE as number, [1, ...leb128(body.length), ...body]),
  ]);
}

function leb128(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >>> 7)];
}

function signedLeb128(value: bigint): Code {
  const signed = BigInt.asIntN(64, value);
  const low = Number(signed & 127n);
  const rest = signed >> 7n;
  const isLast = rest === (low & 64 ? -1n : 0n);
  return isLast ? [low] : [low | 128, ...signedLeb128(rest)];
}
