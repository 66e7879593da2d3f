import { expect, it } from "vitest";
import { decodeRecord } from "../../dist/record-codec.js";
import { save } from "../../dist/writer/record-keeping.js";

const OPERATOR_KEY = `ed25519:${"A".repeat(43)}`;

/** A manifest as it is after it was read; reading it again gives another object. */
const read = (signed: string): { readonly signed: string; readonly layout: readonly never[] } => ({
  signed,
  layout: [],
});

/** What is stored if these manifests are in use, the newest first and one for each window. */
async function stored(known: object, ofWindows: readonly object[]): Promise<Uint8Array> {
  let bytes = new Uint8Array();
  const windows = ofWindows.map((of, i) => ({
    known: of,
    isSealed: false,
    stored: (manifest: number) => ({
      ...{ manifest, window: i, device: new Uint8Array(16), token: "", tick: -1 },
      ...{ publicKeys: new Uint8Array(), state: new Uint8Array(), report: new Uint8Array() },
    }),
  }));
  const store = {
    save: async (record: Uint8Array<ArrayBuffer>): Promise<void> => {
      bytes = record;
    },
  };
  const state = { known, windows, last: 1, operatorKey: OPERATOR_KEY, store, safe: new WeakSet() };
  await save(state as unknown as Parameters<typeof save>[0]);
  return bytes;
}

it("a manifest that was read several times is stored once, and the record has the same size", async () => {
  const [old, next] = ["old".repeat(1000), "next".repeat(1000)];
  const shared = read(next);
  const once = await stored(shared, [shared, shared]);
  const twice = await stored(read(next), [read(next), read(next)]);
  expect(twice).toEqual(once);
  expect(decodeRecord(twice, OPERATOR_KEY).manifests).toEqual([next]);
  const both = decodeRecord(await stored(read(next), [read(old), read(next)]), OPERATOR_KEY);
  expect(both.manifests).toEqual([next, old]);
  expect(both.windows.map(({ manifest }) => manifest)).toEqual([1, 0]);
});
