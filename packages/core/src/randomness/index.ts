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
export { uniformBelow, uniformBelowBig } from "./uniform.ts";
