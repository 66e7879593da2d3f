// For tests, in which hundreds of embedded databases live for seconds: WebAssembly is optimized where it runs for long, not
// at once, which is more than a third of the work of a service's start. Every process that loads this, and what it starts, is the same otherwise.
require("node:v8").setFlagsFromString("--wasm-tiering-budget=300000000");
