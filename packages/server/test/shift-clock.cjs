// With `node --require`: this process's clock is ahead of the machine's by as many seconds as a file says. The file may change while the process runs.
const { readFileSync } = require("node:fs");

const file = process.env.LETHE_TEST_CLOCK_SHIFT;
const RealDate = Date;
const realNow = Date.now;
const shiftedNow = () => realNow() + 1000 * Number(readFileSync(file, "utf8"));

globalThis.Date = class extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(shiftedNow());
    else super(...values);
  }

  static now() {
    return shiftedNow();
  }
};
