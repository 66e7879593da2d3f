import * as sdk from "./all.ts";

/**
 * What the service delivers at `/lethe.js`: `@lethe/device/all`, which a script tag besides leaves at
 * `globalThis.Lethe`. A page whose tag states an integrity takes it from there, because WebKit does not check integrity
 * again for `import` of the same address.
 */
export * from "./all.ts";

declare global {
  /** There once the tag has run; a browser that refuses the file leaves nothing. */
  var Lethe: typeof sdk | undefined;
}
globalThis.Lethe = sdk;
