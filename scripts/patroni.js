// Finds PostgreSQL, Patroni and etcd for the tests of examples/cluster, as Debian installs them.
import { existsSync } from "node:fs";
import { install, mayInstall } from "./debian.js";

const FILES = ["/usr/bin/patroni", "/usr/bin/etcd", "/usr/lib/postgresql"];
const PACKAGES = ["postgresql-15", "patroni", "etcd-server"];

/** Undefined if they are there, or were installed; else how to get them. */
export function findOrInstallPatroni() {
  if (FILES.every(existsSync)) return undefined;
  if (!mayInstall()) return `Debian: ${PACKAGES.join(" ")}`;
  install("PostgreSQL, Patroni, etcd", PACKAGES);
  return undefined;
}
