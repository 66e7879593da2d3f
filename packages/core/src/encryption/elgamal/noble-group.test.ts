import { testRistrettoGroup } from "../../../test/ristretto-group.ts";
import { nobleGroup } from "./noble-group.ts";

testRistrettoGroup("noble", () => nobleGroup);
