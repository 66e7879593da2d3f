/** The module `node-tfhe`. */
export type NodeTfhe = typeof import("node-tfhe");

/** Loads TFHE-rs in WebAssembly. It is not a dependency of Lethe: throws a `RangeError` that says how to install it. */
export async function loadNodeTfhe(
  load: () => Promise<NodeTfhe> = async () => (await import("node-tfhe")).default,
): Promise<NodeTfhe> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new RangeError("this needs TFHE, which Lethe does not come with: npm install node-tfhe", { cause: error });
  }
}
