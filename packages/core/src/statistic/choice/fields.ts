import { described, type Field, oneOf, optional } from "../../schema/index.ts";
import { KEEPS, type Keep } from "./choice.ts";

/** Which choice of a device counts, as a task states it. */
export const keep: Field<Keep | undefined> = described(optional(oneOf(...KEEPS)), "first if absent");
