// With `node --require`: while the file that LETHE_TEST_FAILING_SYNC names exists, every asynchronous fsync of this process fails with EIO.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const flag = process.env.LETHE_TEST_FAILING_SYNC;
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const file = await open(...args);
  const sync = file.sync.bind(file);
  file.sync = async () => {
    if (!fs.existsSync(flag)) return sync();
    throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO", syscall: "fsync" });
  };
  return file;
};
syncBuiltinESMExports();
