// Finds the browsers for the tests. It installs missing ones only in CI, as root, on Debian.
import { existsSync } from "node:fs";
import { install, mayInstall } from "./debian.js";

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
  if (absent.length > 0 && mayInstall()) {
    const names = absent.map(([, { name }]) => name).join(", ");
    install(
      names,
      absent.flatMap(([, { packages }]) => packages),
    );
    absent = [];
  }
  const found = all.filter((browser) => !absent.includes(browser));
  return {
    paths: Object.fromEntries(found.map(([variable, { files }]) => [variable, process.env[variable] ?? files[0]])),
    missing: absent.map(([variable, { name, packages }]) => `${name} (Debian: ${packages.join(" ")}; or ${variable})`),
  };
}
