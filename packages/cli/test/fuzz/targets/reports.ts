import { decodePublicKeys, decodeReport, encodePublicKeys, encodeReport, layoutOf } from "@lethe/core/message";
import {
  addAggregateShares,
  createAggregateShare,
  decodeShareKeys,
  decodeTwoServerReport,
  deriveWrappingKeys,
  encodeShareKeys,
  encodeTwoServerReport,
  mergeAggregateShares,
  type ServerRole,
} from "@lethe/core/two-server";
import { deviceProtocolOf } from "../../../../core/dist/device/index.js";
import { loadRistretto } from "../../../../server/dist/ristretto/libsodium.js";
import { deriveNodeWrappingKeys } from "../../../../server/dist/tally/hpke.js";
import { openReports } from "../../../../server/dist/tally/opening.js";
import { issueShares, prepareShares } from "../../../../server/dist/tally/shares.js";
import { type Target, Violation } from "../target.ts";
import { encryptionTargets } from "./encryption.ts";
import {
  type Enrolled,
  enrolled,
  HELPER,
  MASTER,
  ONE_SERVER,
  OPERATOR,
  random,
  TWO_SERVERS,
  WINDOW,
  WINDOW_SECRET,
} from "./fixtures.ts";

const join = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

function split(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  let at = 0;
  return lengths.map((length) => {
    at += length;
    return bytes.slice(at - length, at);
  });
}

/** For each statistic on each scheme: its public keys, its state on the device, and its report at the server. */
async function oneServerTargets(): Promise<Target[]> {
  const group = await loadRistretto();
  return ONE_SERVER.flatMap((task) => {
    const layout = layoutOf(task.manifest, group);
    const devices = [0, 1, 2].map(() => enrolled(task));
    const [first] = devices as [Enrolled];
    const keys = { manifest: task.text, window: WINDOW, windowSecret: WINDOW_SECRET };
    const lengths = layout.map(({ device }) => device.bytes.state);
    const isLattice = task.name.endsWith("lattice");
    const reencoded = (input: Uint8Array): Uint8Array =>
      encodeReport(task.hash, decodeReport(layout, task.hash, input));
    const targets: Target[] = [
      {
        name: `public keys of ${task.name}`,
        covers: ["decodePublicKeys", "decodeParts", "decodePublicKey", "decodePoint"],
        kind: "bytes",
        examples: devices.map(({ publicKeys }) => publicKeys),
        errors: ["bad-encoding"],
        inCi: isLattice ? 700 : 100,
        run: (input) => {
          const parts = decodePublicKeys(layout, input);
          for (const [i, { device }] of layout.entries()) device.start(parts[i] as Uint8Array, random);
          return encodePublicKeys(parts);
        },
      },
      {
        name: `state of ${task.name}`,
        covers: ["decodeCiphertext"],
        kind: "bytes",
        examples: devices.map(({ states }) => join(states)),
        errors: ["bad-encoding"],
        inCi: isLattice ? 700 : 100,
        run: (input) => {
          if (input.length < lengths.reduce((sum, length) => sum + length)) return undefined;
          const parts = split(input, lengths);
          for (const [i, { device }] of layout.entries()) {
            device.resume(first.keys[i] as Uint8Array, parts[i] as Uint8Array, true, random);
          }
          return undefined;
        },
      },
      {
        name: `report of ${task.name}`,
        covers: ["decodeReport"],
        kind: "bytes",
        examples: devices.map(({ report }) => report),
        errors: ["bad-encoding"],
        run: reencoded,
      },
      {
        name: `opened report of ${task.name}`,
        covers: ["openReports", "decodePointOrStandIn", "decodeCompact"],
        kind: "bytes",
        // What follows the header, so that it is always there.
        examples: devices.map(({ report }) => report.slice(34)),
        errors: ["bad-encoding"],
        inCi: isLattice ? 600 : 200,
        seal: (content) => join([first.report.subarray(0, 34), content]),
        run: (input) => {
          const { received, invalid, sums } = openReports(
            keys,
            [{ device: first.device, body: input, group: 0 }],
            group,
          );
          if (received[0] !== 1 || invalid > 1) throw new Violation("a report was not counted once");
          if (!sums.flat().every(Number.isFinite)) throw new Violation("an answer is not finite");
          return undefined;
        },
      },
    ];
    return targets;
  });
}

const ROLES: readonly ServerRole[] = ["leader", "helper"];
const at = { task: TWO_SERVERS.manifest.task, window: WINDOW };
const VERIFY_KEY = new Uint8Array(32).fill(3);

/** Devices of a task of two servers, with the bytes that they send. */
async function sharedReports(count: number): Promise<{ device: Uint8Array; keys: Uint8Array; report: Uint8Array }[]> {
  const protocol = await deviceProtocolOf(TWO_SERVERS.manifest, TWO_SERVERS.hash, {
    operatorKey: OPERATOR.key,
    helperKey: HELPER.key,
  });
  const windowKeys = { manifest: TWO_SERVERS.text, window: WINDOW, windowSecret: WINDOW_SECRET };
  const devices = Array.from({ length: count }, (_, i) => new Uint8Array(16).fill(i + 1));
  const issued = await Promise.all(ROLES.map((role) => issueShares(windowKeys, role, devices, OPERATOR.signingKey)));
  return Promise.all(
    devices.map(async (device, n) => {
      const keys = join(issued.map((each) => each[n]?.publicKeys ?? new Uint8Array()));
      const parts = protocol.keysOf(keys, WINDOW);
      const sealed = protocol.layout.map((part, i) => {
        const recorder = part.device.start(parts[i] as Uint8Array, random);
        for (const event of part.device.events.keys()) recorder.record(event);
        return recorder.seal(recorder.write() as Uint8Array);
      });
      const kept = protocol.seal(keys, sealed, random);
      return { device, keys, report: await protocol.bodyOf(kept, WINDOW, device) };
    }),
  );
}

async function twoServerTargets(): Promise<Target[]> {
  const { layout, hash, text } = TWO_SERVERS;
  const sent = await sharedReports(3);
  const [first] = sent as [(typeof sent)[0]];
  const windowKeys = { manifest: text, window: WINDOW, windowSecret: WINDOW_SECRET };
  const group = await loadRistretto();
  const halves = sent.map(({ report }) => decodeTwoServerReport(layout, hash, report));
  const { reportId } = halves[0] as (typeof halves)[0];
  const opened = ROLES.map(
    (role): Target => ({
      name: `half of a report at the ${role}`,
      covers: ["openShare", "prepareShares"],
      kind: "bytes",
      examples: halves.map((each) => each[role]),
      errors: [],
      inCi: 150,
      run: async (input) => {
        const [prepared] = await prepareShares(
          windowKeys,
          role,
          VERIFY_KEY,
          [{ device: first.device, report: reportId, half: input }],
          group,
        );
        if (!prepared || prepared.outShare.length === 0) throw new Violation("there is no answer to a half");
        return undefined;
      },
    }),
  );
  return [
    {
      name: "report for two servers",
      covers: ["decodeTwoServerReport"],
      kind: "bytes",
      examples: sent.map(({ report }) => report),
      errors: ["bad-encoding"],
      run: (input) => encodeTwoServerReport(hash, decodeTwoServerReport(layout, hash, input)),
    },
    ...opened,
    ...(await envelopeTargets()),
    ...ROLES.map(
      (role): Target => ({
        name: `share keys of the ${role}`,
        covers: ["decodeShareKeys"],
        kind: "bytes",
        examples: sent.map(({ keys }) => {
          const all = { leader: keys.slice(0, 98), helper: keys.slice(98) };
          return all[role];
        }),
        errors: ["bad-encoding"],
        run: (input) => encodeShareKeys(decodeShareKeys(role, input)),
      }),
    ),
  ];
}

/** Both implementations of HPKE must judge every envelope alike. */
async function envelopeTargets(): Promise<Target[]> {
  const of = { ...at, role: "leader" } as const;
  const [node, web] = [deriveNodeWrappingKeys(MASTER, of), await deriveWrappingKeys(MASTER, of)];
  const { layout, hash } = TWO_SERVERS;
  const sent = await sharedReports(2);
  const binding = new Uint8Array(40).fill(1);
  const valid = sent.map(({ report }) => decodeTwoServerReport(layout, hash, report).leader.slice(0, 400));
  return [
    {
      name: "HPKE envelope",
      covers: ["deriveNodeWrappingKeys", "deriveWrappingKeys"],
      kind: "bytes",
      examples: [...valid, new Uint8Array(32), new Uint8Array(32).fill(255), Uint8Array.of(1, ...new Uint8Array(47))],
      errors: [],
      inCi: 400,
      run: async (input) => {
        const [encapsulated, ciphertext] = [new Uint8Array(32), input.subarray(32)];
        encapsulated.set(input.subarray(0, 32));
        const [one, other] = [
          node.open(encapsulated, ciphertext, binding),
          await web.open(encapsulated, ciphertext, binding),
        ];
        if ((await one) !== undefined || other !== undefined) throw new Violation("opened what nobody sealed");
        return undefined;
      },
    },
  ];
}

/** Shares of sums, as servers store and publish them. */
function aggregateTargets(): Target[] {
  const answers = 4;
  const one = createAggregateShare(answers);
  one.addConstant([1, 2, 3, 4_294_967_296]);
  const zero = new Uint8Array(8 * answers);
  return [
    {
      name: "aggregate share",
      covers: ["addAggregateShares", "mergeAggregateShares", "read"],
      kind: "bytes",
      examples: [one.encode(), zero, Uint8Array.from({ length: 8 * answers }, (_, i) => (i % 8 < 4 ? 0 : 255))],
      errors: ["bad-encoding"],
      run: (input) => {
        const sums = addAggregateShares(input, new Uint8Array(input.length));
        if (!sums.every(Number.isFinite)) throw new Violation("a sum is not finite");
        return mergeAggregateShares(input, new Uint8Array(input.length));
      },
    },
  ];
}

/** Everything of public keys, states, reports and shares that is bytes. */
export async function reportTargets(): Promise<Target[]> {
  return [...(await oneServerTargets()), ...(await twoServerTargets()), ...aggregateTargets(), ...encryptionTargets()];
}
