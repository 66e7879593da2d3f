/**
 * Where randomness comes from, and samplers on it. Nothing here or elsewhere in core draws from a global source:
 * callers pass a `Randomness`. May import the files directly below `src` only. Start reading at `randomness.ts`.
 */
export { bernoulli } from "./bernoulli.ts";
export { addCentredBinomial } from "./centred-binomial.ts";
export {
  type Randomness,
  type RandomValues,
  randomnessFrom,
  seededRandomnessForTests,
  withBufferedRandomness,
} from "./randomness.ts";
export { addTernary } from "./ternary.ts";
export { uniformBelow } from "./uniform.ts";
export { uniformBelowBig } from "./uniform-big.ts";
