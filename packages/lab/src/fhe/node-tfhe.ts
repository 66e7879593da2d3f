export type NodeTfhe = typeof import("node-tfhe");

/** TFHE-rs in WebAssembly. Whoever installs Lethe does not need it, so it is loaded only when it is. */
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
