import type { Target } from "./target.ts";

/** Targets that are set up together, and the names of those. */
interface Group {
  readonly names: readonly string[];
  readonly open: () => Promise<readonly Target[]>;
}

const STATISTICS = [
  ...["occurrence on lattice", "occurrence on elgamal", "histogram on lattice", "histogram on elgamal"],
  ...["mean on lattice", "mean on elgamal", "funnel on elgamal", "choice on elgamal", "active-periods on elgamal"],
  ...["retention on elgamal", "joint on elgamal", "automaton on elgamal"],
];

/** Every decoder and parser of bytes from outside. `registry.test.ts` fails if one is missing. */
export const REGISTRY: readonly Group[] = [
  {
    names: [
      ...["task file", "manifest", "manifest, at a device", "signed manifest", "signed manifest, at a device"],
      ...["enrolment", "enrolment, at a device", "release", "signed share", "share of a window", "service info"],
      ...["live view", "base64url", "operator key"],
    ],
    open: async () => (await import("./targets/messages.ts")).messageTargets(),
  },
  {
    names: [
      ...STATISTICS.flatMap((name) => [
        `public keys of ${name}`,
        `state of ${name}`,
        `report of ${name}`,
        `opened report of ${name}`,
      ]),
      ...["report for two servers", "half of a report at the leader", "half of a report at the helper"],
      ...["HPKE envelope", "share keys of the leader", "share keys of the helper", "aggregate share"],
      ...["ElGamal public key", "ElGamal ciphertext", "lattice public key", "lattice ciphertext"],
      "compact lattice ciphertext",
    ],
    open: async () => (await import("./targets/reports.ts")).reportTargets(),
  },
  {
    names: [
      ...["device record", "device record, at the SDK", "budget record", "version of a record", "lock file"],
      "file of a device",
    ],
    open: async () => (await import("./targets/device.ts")).deviceTargets(),
  },
  {
    names: [
      ...["request to a helper", "answer of a helper", "refusal of a helper", "request for keys"],
      ...["keys from a helper", "job for a helper", "request to finish", "verifiers of a helper", "key file"],
      ...["sealed tally", "address of a database", "address of a webhook", "other server", "release of a helper"],
    ],
    open: async () => (await import("./targets/servers.ts")).serverTargets(),
  },
  {
    names: [
      ...["file of a task", "file of text", "file of enrolment tokens", "file of the admin token"],
      ...["capture of a device", "value of an option", "answer to a reader", "draft in the console"],
      "address in the console",
    ],
    open: async () => (await import("./targets/commands.ts")).commandTargets(),
  },
  {
    names: [
      ...["HTTP request", "HTTP body of an enrolment", "HTTP body of a task", "HTTP request to a helper"],
      "message to a helper",
    ],
    open: async () => (await import("./targets/http.ts")).httpTargets(),
  },
];

const opened = new Map<Group, Promise<readonly Target[]>>();

/** The group that has the target of this name; empty if none has. */
export async function groupOf(name: string): Promise<readonly Target[]> {
  const group = REGISTRY.find(({ names }) => names.includes(name));
  if (!group) return [];
  const known = opened.get(group) ?? group.open();
  opened.set(group, known);
  return known;
}
