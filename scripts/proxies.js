// Finds nginx and HAProxy for the tests of examples/deploy, as Debian installs them.
import { existsSync } from "node:fs";
import { install, mayInstall } from "./debian.js";

const FILES = ["/usr/sbin/nginx", "/usr/sbin/haproxy"];
const PACKAGES = ["nginx-light", "haproxy"];

/** Undefined if they are there, or were installed; else how to get them. */
export function findOrInstallProxies() {
  if (FILES.every(existsSync)) return undefined;
  if (!mayInstall()) return `Debian: ${PACKAGES.join(" ")}`;
  install("nginx, HAProxy", PACKAGES);
  return undefined;
}

/** Undefined if tests may make disks that fail, as `canMakeDisks` in packages/files/test/faulty-disk.ts finds out; else what they need. */
export function missingForDisks() {
  const files = ["/dev/loop-control", "/sbin/mkfs.ext4", "/usr/bin/perl"];
  return process.getuid?.() === 0 && files.every(existsSync) ? undefined : "root, loop devices, mkfs.ext4 and perl";
}
