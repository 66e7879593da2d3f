import { beforeAll, describe, expect, it } from "vitest";
import { loadNodeTfhe, type NodeTfhe } from "./node-tfhe.ts";
import { toyParameters } from "./tfhe-counting.ts";
import { createOr } from "./tfhe-or.ts";
import { decodeServerKey } from "./tfhe-server-key.ts";

/**
 * Noise turns a bit of these keys around with a probability far below 1e-9: it is a thousandth of what it would take.
 */
describe("an OR gate on ciphertexts of node-tfhe", () => {
  let encrypt: (bit: boolean) => Uint8Array;
  let decrypt: (ciphertext: Uint8Array) => boolean;
  let serverKey: Uint8Array;

  beforeAll(async () => {
    const library: NodeTfhe = await loadNodeTfhe();
    const { Boolean: tfhe } = library;
    const clientKey = tfhe.new_client_key(toyParameters(library));
    serverKey = tfhe.serialize_compressed_server_key(tfhe.new_compressed_server_key(clientKey));
    encrypt = (bit) => tfhe.serialize_ciphertext(tfhe.encrypt(clientKey, bit));
    decrypt = (ciphertext) => tfhe.decrypt(clientKey, tfhe.deserialize_ciphertext(ciphertext));
  });

  it("gives what node-tfhe decrypts to the OR of both", () => {
    const or = createOr(decodeServerKey(serverKey));
    for (const left of [false, true]) {
      for (const right of [false, true]) expect(decrypt(or(encrypt(left), encrypt(right)))).toBe(left || right);
    }
  });

  it("keeps a state through any number of ticks", () => {
    const or = createOr(decodeServerKey(serverKey));
    let state = encrypt(false);
    for (let tick = 0; tick < 10; tick++) {
      state = or(state, encrypt(tick === 5));
      expect(decrypt(state)).toBe(tick >= 5);
    }
  });

  it("draws no randomness, so that an event in the clear would be found by trying", () => {
    const or = createOr(decodeServerKey(serverKey));
    const [state, event] = [encrypt(false), encrypt(true)];
    expect(or(state, event)).toEqual(or(state, event));
  });

  it("refuses a key that is not laid out as expected", () => {
    const other = serverKey.slice();
    other[0] = (other[0] as number) ^ 4;
    expect(() => decodeServerKey(other)).toThrow(RangeError);
  });
});

it("without node-tfhe there is a RangeError that says how to get it", async () => {
  const missing = "a-package-that-nobody-has-installed";
  await expect(loadNodeTfhe(() => import(missing))).rejects.toThrow(/npm install node-tfhe/);
});
