/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { colourOf } from "../src/device/picture.ts";

/** Bytes by their colours. */
const BYTES = new Map(
  [true, false].flatMap((isChanged) =>
    Array.from({ length: 256 }, (_, byte) => [colourOf(byte, isChanged).join(), { byte, isChanged }] as const),
  ),
);

/** What the picture of a store shows: its bytes, read from its pixels, and the share that is drawn as changed. */
export async function drawnIn(page: Page, title: string): Promise<{ bytes: number[]; changed: number }> {
  const pixels = await page
    .locator("figure.store", { hasText: title })
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => {
      const context = canvas.getContext("2d");
      return [...(context?.getImageData(0, 0, canvas.width, canvas.height).data ?? [])];
    });
  const drawn = [];
  for (let at = 0; at < pixels.length && pixels[at + 3] === 255; at += 4) {
    const found = BYTES.get(pixels.slice(at, at + 3).join());
    if (!found) throw new TypeError(`no byte has the colour ${pixels.slice(at, at + 3)}`);
    drawn.push(found);
  }
  return {
    bytes: drawn.map(({ byte }) => byte),
    changed: drawn.filter(({ isChanged }) => isChanged).length / drawn.length,
  };
}

/** A part of a record as IndexedDB has it. */
interface Part {
  readonly key: readonly [name: string, slot: string, at: number];
  readonly bytes: number[];
}

function partsIn(page: Page): Promise<Part[]> {
  return page.evaluate(
    () =>
      new Promise<Part[]>((resolve, reject) => {
        const opening = indexedDB.open("lethe");
        opening.onupgradeneeded = () => opening.transaction?.abort();
        opening.onerror = () => resolve([]);
        opening.onsuccess = () => {
          const parts: Part[] = [];
          const database = opening.result;
          const transaction = database.transaction("records");
          transaction.objectStore("records").openCursor().onsuccess = ({ target }) => {
            const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result;
            if (!cursor) return;
            parts.push({ key: cursor.key as unknown as Part["key"], bytes: [...(cursor.value as Uint8Array)] });
            cursor.continue();
          };
          transaction.onabort = () => reject(transaction.error);
          transaction.oncomplete = () => {
            database.close();
            resolve(parts);
          };
        };
      }),
  );
}

/** The names under which the page's origin has records. */
export async function recordNames(page: Page): Promise<string[]> {
  return [...new Set((await partsIn(page)).map(({ key: [name] }) => name))].sort();
}

const CHECK_BYTES = 16;
const HEAD_BYTES = 32;

/**
 * The newest version of a record, put together from the database without the SDK: a slot has a check, the generation and
 * the length as numbers of 64 bits, and the record.
 */
export async function recordOf(
  page: Page,
  name: string,
): Promise<{ generation: number; record: number[] } | undefined> {
  const parts = (await partsIn(page)).filter(({ key }) => key[0] === name);
  const slots = [...new Set(parts.map(({ key }) => key[1]))].map((slot) => {
    const bytes = parts
      .filter(({ key }) => key[1] === slot)
      .sort((a, b) => a.key[2] - b.key[2])
      .flatMap((part) => part.bytes);
    const [generation = 0, length = 0] = new Float64Array(Uint8Array.from(bytes.slice(CHECK_BYTES, HEAD_BYTES)).buffer);
    return { generation, record: bytes.slice(HEAD_BYTES, HEAD_BYTES + length) };
  });
  return slots.sort((a, b) => b.generation - a.generation)[0];
}
