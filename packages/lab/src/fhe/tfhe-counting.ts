import type { BooleanParameters as NodeBooleanParameters } from "node-tfhe";
import type { EncryptedCounting } from "./counting.ts";
import type { NodeTfhe } from "./node-tfhe.ts";
import { createOr } from "./tfhe-or.ts";
import { decodeServerKey } from "./tfhe-server-key.ts";

/** The parameters of TFHE-rs, or small ones for tests. */
export type BooleanParameters = "standard" | "toy";

const MOST_BYTES = 1n << 40n;

/**
 * Whether it has happened, as one encrypted bit. Each tick's event is encrypted under the public key and combined with
 * the state by an OR gate. An event in the clear would be visible: gates are deterministic, so an intruder with two
 * states in a row tries both values.
 */
export function createTfheBit(library: NodeTfhe, parameters: BooleanParameters): EncryptedCounting {
  const { Boolean: tfhe } = library;
  const clientKey = tfhe.new_client_key(parametersOf(library, parameters));
  const serverKey = tfhe.serialize_compressed_server_key(tfhe.new_compressed_server_key(clientKey));
  const publicKey = tfhe.new_public_key(clientKey);
  const encrypt = (bit: boolean): Uint8Array => tfhe.serialize_ciphertext(tfhe.encrypt_with_public_key(publicKey, bit));
  const or = createOr(decodeServerKey(serverKey));
  let state = encrypt(false);
  return {
    system: "TFHE, one bit",
    counters: 1,
    stateBytes: state.length,
    keyBytes: serverKey.length + tfhe.serialize_public_key(publicKey).length,
    update: (event) => {
      state = or(state, encrypt(event));
    },
    read: () => tfhe.decrypt(clientKey, tfhe.deserialize_ciphertext(state)),
  };
}

function parametersOf(library: NodeTfhe, which: BooleanParameters): NodeBooleanParameters {
  if (which === "toy") return toyParameters(library);
  return library.Boolean.get_parameters(library.BooleanParameterSet.Default);
}

/** Parameters that protect nothing: the same steps as with the standard ones, but fewer. */
export function toyParameters({ Boolean: tfhe, BooleanEncryptionKeyChoice }: NodeTfhe): NodeBooleanParameters {
  const noise = () => tfhe.new_gaussian_from_std_dev(2 ** -28);
  return tfhe.new_parameters(32, 2, 512, noise(), noise(), 10, 2, 3, 5, BooleanEncryptionKeyChoice.Small);
}

/**
 * A number of eight bits. node-tfhe, made for clients, does everything but the addition: the event is encrypted under
 * the small public key that this part of TFHE has, and bootstrapped to the key under which one computes.
 */
export function createTfheByte(tfhe: NodeTfhe): EncryptedCounting {
  const { ShortintParametersName: names, ShortintCompactPublicKeyEncryptionParametersName: publicNames } = tfhe;
  const blocks = new tfhe.ShortintParameters(names.PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128);
  const compact = new tfhe.ShortintCompactPublicKeyEncryptionParameters(
    publicNames.PARAM_PKE_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128,
  );
  const config = tfhe.TfheConfigBuilder.with_custom_parameters(blocks)
    .use_dedicated_compact_public_key_parameters(compact)
    .build();
  const clientKey = tfhe.TfheClientKey.generate(config);
  const publicKey = tfhe.TfheCompactPublicKey.new(clientKey);
  const serverKeyBytes = tfhe.TfheCompressedServerKey.new(clientKey).safe_serialize(MOST_BYTES).length;
  tfhe.set_server_key(tfhe.TfheServerKey.new(clientKey));
  const encrypt = (event: boolean) => {
    const list = tfhe.CompactCiphertextList.builder(publicKey);
    list.push_u8(Number(event));
    return list.build_packed().expand().get_uint8(0);
  };
  let state = encrypt(false);
  return {
    system: "TFHE, 8-bit number",
    counters: 1,
    stateBytes: state.safe_serialize(MOST_BYTES).length,
    keyBytes: serverKeyBytes + publicKey.safe_serialize(MOST_BYTES).length,
    update: (event) => {
      state = encrypt(event);
    },
    read: () => state.decrypt(clientKey) === 1,
    onlyPart: "the event encrypted and bootstrapped, not yet added",
  };
}
