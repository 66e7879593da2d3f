import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

/** One import of one module by another, as written in the sources. */
export interface Import {
  /** The importing file, relative to the folder that was read, with slashes. */
  readonly from: string;
  /** The imported file in the same form, or a package's name such as `@lethe/core/message`. */
  readonly to: string;
  /** False if only types are imported: nothing of it is left when the program runs. */
  readonly isValue: boolean;
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
const DYNAMIC = /\bimport(?:\.meta\.resolve)?\(\s*"([^"]+)"\s*\)/g;

/** All imports of the sources below `root`; tests and built files are left out. */
export function importsBelow(root: string): Import[] {
  return sourcesBelow(root).flatMap((file) => {
    const text = withoutComments(readFileSync(file, "utf8"));
    const from = withSlashes(relative(root, file));
    const resolve = (target: string): string =>
      target.startsWith(".") ? withSlashes(relative(root, join(dirname(file), target))) : target;
    const statements = [...text.matchAll(STATEMENT)].map(([, type, target = ""]) => {
      return { from, to: resolve(target), isValue: type === undefined };
    });
    const dynamic = [...text.matchAll(DYNAMIC)].map(([, target = ""]) => ({
      from,
      to: resolve(target),
      isValue: true,
    }));
    return [...statements, ...dynamic];
  });
}

function sourcesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.split(sep).some((part) => part === "dist" || part === "node_modules"));
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

const withSlashes = (path: string): string => path.split(sep).join("/");

/** Nodes and the nodes that each of them points at. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The folders directly below `src` and what they import from each other by value; files that lie in `src` itself are left out. */
export function folderGraph(imports: readonly Import[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { from, to, isValue } of imports) {
    const [source, target] = [folderOf(from), folderOf(to)];
    if (!isValue || !source || !target || source === target) continue;
    graph.set(source, (graph.get(source) ?? new Set()).add(target));
  }
  return graph;
}

function folderOf(path: string): string | undefined {
  if (path.startsWith("@") || path.startsWith(".")) return undefined;
  const parts = path.split("/");
  return parts.length > 1 ? parts[0] : undefined;
}

/** The nodes of some cycle, first and last the same; undefined if there is none. */
export function cycleIn(graph: Graph): readonly string[] | undefined {
  const done = new Set<string>();
  function visit(node: string, path: readonly string[]): readonly string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}
