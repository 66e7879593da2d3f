export {
  createDiscreteGaussian,
  type DiscreteGaussian,
  discreteGaussianDelta,
  discreteGaussianEpsilon,
  drawDiscreteGaussian,
  sigmaFor,
} from "./discrete-gaussian.ts";
export { drawDiscreteLaplace } from "./discrete-laplace.ts";
export { createKaryResponse, type KaryResponse, respondKary } from "./kary-response.ts";
export { chooseLedgerBits, type LedgerResponse, ledgerResponseWithBits } from "./ledger-response.ts";
export { createRandomizedResponse, type RandomizedResponse, respond } from "./randomized-response.ts";
export { createUnaryEncoding, respondUnary, type UnaryEncoding } from "./unary-encoding.ts";
