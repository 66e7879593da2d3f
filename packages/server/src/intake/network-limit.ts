import { createHmac, randomBytes } from "node:crypto";
import { LetheError } from "@lethe/core/error";
import type { WindowIdentity } from "../storage/windows.ts";
import { networkOf } from "./network.ts";

/** Networks that are counted separately, in all windows together: about 30 MB. */
const MOST_NETWORKS = 200_000;
/**
 * When the table is full, a network's name is cut to this length: names that begin alike then share a count, which adds
 * at most 2¹⁶ counts per window.
 */
const SHARED_BYTES = 2;
const KEY_BYTES = 32;
const NAME_BYTES = 16;

/** Limits how many devices a network enrols in a window. */
export interface NetworkLimit {
  /**
   * Counts a device of this network, or throws if that is one too many. The function that it returns takes the device
   * back, once.
   */
  readonly count: (window: WindowIdentity, address: string) => () => void;
  /** Drops the keys and counts of all windows that nobody can enrol in any more. */
  readonly keepOnly: (isOpen: (window: WindowIdentity) => boolean) => void;
}

interface WindowCounts {
  readonly window: WindowIdentity;
  readonly key: Uint8Array;
  /** Devices by the network's name under `key`. */
  readonly devices: Map<string, number>;
}

/**
 * Networks are counted under the HMAC of their address, with a random key for every window. Key and counts are in the
 * memory of this process only: the limit holds per intake, and a restart forgets it. Without the key, nobody can link a
 * count to an address. A full table never lets a network exceed its limit: networks that come later share counts, and
 * reach the limit sooner.
 */
export function createNetworkLimit(mostPerAddress: number, mostNetworks: number = MOST_NETWORKS): NetworkLimit {
  const windows = new Map<number, WindowCounts>();
  let networks = 0;

  function countsOf(window: WindowIdentity): WindowCounts {
    const known = windows.get(window.id);
    if (known) return known;
    const made = { window, key: randomBytes(KEY_BYTES), devices: new Map<string, number>() };
    windows.set(window.id, made);
    return made;
  }

  function nameIn({ key, devices }: WindowCounts, address: string): string {
    const mac = createHmac("sha256", key).update(networkOf(address)).digest();
    const own = mac.toString("latin1", 0, NAME_BYTES);
    const shared = mac.toString("latin1", 0, SHARED_BYTES);
    // A network that was counted with others stays there when the table has room again.
    return devices.has(own) || (networks < mostNetworks && !devices.has(shared)) ? own : shared;
  }

  function set({ devices }: WindowCounts, name: string, count: number): void {
    networks -= devices.size;
    if (count > 0) devices.set(name, count);
    else devices.delete(name);
    networks += devices.size;
  }

  return {
    count: (window, address) => {
      const counts = countsOf(window);
      const name = nameIn(counts, address);
      const countOf = (): number => counts.devices.get(name) ?? 0;
      if (countOf() >= mostPerAddress) {
        throw new LetheError("rate-limited", `an address enrols at most ${mostPerAddress} devices in a window`);
      }
      set(counts, name, countOf() + 1);
      return () => {
        if (windows.get(window.id) === counts) set(counts, name, countOf() - 1);
      };
    },
    keepOnly: (isOpen) => {
      for (const [id, { window, key, devices }] of windows) {
        if (isOpen(window)) continue;
        key.fill(0);
        networks -= devices.size;
        windows.delete(id);
      }
    },
  };
}
