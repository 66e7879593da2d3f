// Finds the browsers for the tests. It installs missing ones only in CI, as root, on Debian.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** For each browser: the variable that names another path, the files where Debian has it, and the packages with these. */
const BROWSERS = {
  CHROMIUM_PATH: { name: "Chromium", files: ["/usr/bin/chromium"], packages: ["chromium"] },
  FIREFOX_PATH: { name: "Firefox", files: ["/usr/bin/firefox-esr"], packages: ["firefox-esr"] },
  WEBKIT_DRIVER_PATH: {
    name: "WebKit",
    files: ["/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb"],
    packages: ["webkit2gtk-driver", "xvfb"],
  },
};

/** The `paths` of the browsers by their variables, and for each `missing` browser how to get it. */
export function findOrInstallBrowsers() {
  const all = Object.entries(BROWSERS);
  let absent = all.filter(([variable, { files }]) => !process.env[variable] && !files.every(existsSync));
  if (absent.length > 0 && process.env.CI === "true" && process.getuid?.() === 0 && isDebian()) {
    console.log(`\n— ${absent.map(([, { name }]) => name).join(", ")} (once)`);
    aptGet("update", "-qq");
    aptGet("install", "-qq", "-y", "--no-install-recommends", ...absent.flatMap(([, { packages }]) => packages));
    absent = [];
  }
  const found = all.filter((browser) => !absent.includes(browser));
  return {
    paths: Object.fromEntries(found.map(([variable, { files }]) => [variable, process.env[variable] ?? files[0]])),
    missing: absent.map(([variable, { name, packages }]) => `${name} (Debian: ${packages.join(" ")}; or ${variable})`),
  };
}

function isDebian() {
  return existsSync("/etc/os-release") && /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status } = spawnSync("/usr/bin/apt-get", args, { stdio: ["ignore", 2, 2], env });
  if (status !== 0) {
    console.error(`\nfailed: apt-get ${args.join(" ")}`);
    process.exit(status ?? 1);
  }
}
