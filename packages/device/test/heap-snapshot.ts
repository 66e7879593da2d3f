import { readFileSync } from "node:fs";

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly unknown[];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly unknown[];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

/** Something in a heap, and what it refers to. */
interface HeapNode {
  readonly kind: string;
  readonly name: string;
  readonly bytes: number;
  readonly edges: readonly { readonly kind: string; readonly name: string; readonly to: number }[];
}

const TEXTS = ["string", "concatenated string", "sliced string"];

/** Everything that is reachable in a heap snapshot. */
function nodesIn(path: string): HeapNode[] {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(path, "utf8")) as Snapshot;
  const {
    node_fields: nodeFields,
    node_types: nodeTypes,
    edge_fields: edgeFields,
    edge_types: edgeTypes,
  } = snapshot.meta;
  const [nodeKinds, edgeKinds] = [nodeTypes[0] as string[], edgeTypes[0] as string[]];
  const text = (index: number | undefined): string => strings[index ?? -1] ?? "";
  let edge = 0;
  return Array.from({ length: nodes.length / nodeFields.length }, (_, i) => {
    const field = (name: string) => nodes[i * nodeFields.length + nodeFields.indexOf(name)] ?? 0;
    const own = Array.from({ length: field("edge_count") }, () => {
      const part = (name: string) => edges[edge + edgeFields.indexOf(name)] ?? 0;
      const kind = edgeKinds[part("type")] ?? "";
      const name = ["element", "hidden"].includes(kind) ? `${part("name_or_index")}` : text(part("name_or_index"));
      const to = part("to_node") / nodeFields.length;
      edge += edgeFields.length;
      return { kind, name, to };
    });
    return { kind: nodeKinds[field("type")] ?? "", name: text(field("name")), bytes: field("self_size"), edges: own };
  });
}

/**
 * The texts of everything of a kind that is reachable in a heap snapshot, one for each place. With
 * `exposeNumericValues`, V8 writes the value of each number that an object, an array, or a closure's variable holds as
 * a text, one for all places with the same small integer. The content of an ArrayBuffer, in a register or on the stack
 * is in no snapshot.
 */
export function textsIn(path: string): string[] {
  return nodesIn(path).flatMap(({ kind, name }) => (TEXTS.includes(kind) ? [name] : []));
}

/**
 * The variables that closures share, for each set of them in which there is one of this name: its kind, its size, and
 * its text or number; of a `Map`, the size of its table as well.
 */
export function variablesIn(path: string, variable: string): Readonly<Record<string, string>>[] {
  const nodes = nodesIn(path);
  const describe = ({ kind, name, bytes, edges }: HeapNode): string => {
    const inside = edges.filter((edge) => edge.name === "table" || (kind === "number" && edge.name === "value"));
    return [kind, name, bytes, ...inside.map(({ to }) => describe(nodes[to] as HeapNode))].join(" ");
  };
  return nodes.flatMap(({ edges }) => {
    const shared = edges.filter(({ kind }) => kind === "context");
    if (!shared.some(({ name }) => name === variable)) return [];
    return [Object.fromEntries(shared.map(({ name, to }) => [name, describe(nodes[to] as HeapNode)]))];
  });
}
