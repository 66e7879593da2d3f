// For tests, which start hundreds of embedded databases that live for seconds. Optimizing WebAssembly at once is more than a
// third of the work of a service's start, so V8 does that only for code that runs for long. Nothing else changes.
require("node:v8").setFlagsFromString("--wasm-tiering-budget=300000000");
