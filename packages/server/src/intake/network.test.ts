import fc from "fast-check";
import { expect, it } from "vitest";
import { networkOf } from "./network.ts";

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::ffff", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
])("%s is of the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

const group = fc.integer({ min: 0, max: 0xffff });

it("addresses of one /64 are one network however they are written, those of two are two", () => {
  const half = fc.array(group, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(half, half, half, (prefix, rest, other) => {
      const long = [...prefix, ...rest].map((value) => value.toString(16).padStart(4, "0").toUpperCase()).join(":");
      const short = [...prefix, ...other].map((value) => value.toString(16)).join(":");
      expect(networkOf(long)).toBe(networkOf(short));
      if (prefix.join() !== other.join()) {
        expect(networkOf([...other, ...rest].map((value) => value.toString(16)).join(":"))).not.toBe(networkOf(short));
      }
    }),
  );
});

it("zeros left out stand for as many as are missing", () => {
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), fc.nat(7), fc.nat(7), (groups, from, length) => {
      const zeroed = groups.map((value, i) => (i >= from && i <= from + length ? 0 : value));
      const text = zeroed.map((value) => value.toString(16));
      const shortened = `${text.slice(0, from).join(":")}::${text.slice(from + length + 1).join(":")}`;
      expect(networkOf(shortened)).toBe(networkOf(text.join(":")));
    }),
  );
});

it("whatever a proxy may write, it does not throw", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof networkOf(text)).toBe("string");
    }),
  );
});
