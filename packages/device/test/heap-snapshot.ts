import { readFileSync } from "node:fs";

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: unknown[] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/**
 * The texts of everything of a kind that is reachable in a heap snapshot, one for each place. With
 * `exposeNumericValues`, V8 writes the value of each number that an object, an array, or a closure's variable holds as
 * a separate text. The content of an ArrayBuffer, in a register or on the stack is in no snapshot.
 */
export function textsIn(path: string): string[] {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(path, "utf8")) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const kinds = types[0] as string[];
  const [type, name] = [fields.indexOf("type"), fields.indexOf("name")];
  const isText = new Set(["string", "concatenated string", "sliced string"].map((kind) => kinds.indexOf(kind)));
  const texts: string[] = [];
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (isText.has(nodes[at + type] ?? -1)) texts.push(strings[nodes[at + name] ?? -1] ?? "");
  }
  return texts;
}
