import { byNature } from '../text/natural-order.ts';
import type { TaskStatus } from './state.ts';

interface GraphNode {
  task_id: string;
  title: string;
  status: TaskStatus;
  /** How many steps of dependencies lie before it. */
  depth: number;
}

interface GraphEdge {
  task_id: string;
  depends_on: string;
}

/** In the natural order of ids within each depth. An edge may lead to a task that nobody has defined. */
export interface TaskGraph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export const STATUS_MARKS: Readonly<Record<TaskStatus, string>> = {
  todo: '○',
  in_progress: '◐',
  blocked: '■',
  done: '✓',
  cancelled: '–',
};

/** Deeper ones are not moved in any further: a chain of thousands would be wider than any screen. */
const DEEPEST = 24;

/**
 * Each task once, below the last of those it waits for; others that it waits for too are named behind it. `style` is given each
 * line without its indent.
 */
export function formatTaskTree(
  graph: TaskGraph,
  style: (line: string, status: TaskStatus) => string = (line) => line,
): string[] {
  const { places, children, roots } = placeTasks(graph);
  const lines: string[] = [];
  const open = roots.map((node) => ({ node, level: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, level } = next;
    const { below, others } = places.get(node.task_id)!;
    const after = others.length > 0 ? `  (${below === null ? '' : 'also '}after ${others.join(', ')})` : '';
    const line = `${STATUS_MARKS[node.status]} ${node.task_id}  ${node.title}${after}`;
    lines.push('  '.repeat(Math.min(level, DEEPEST)) + style(line, node.status));
    const behind = children.get(node.task_id) ?? [];
    for (const child of behind.toReversed()) open.push({ node: child, level: level + 1 });
  }
  return lines;
}

interface TreePosition {
  below: string | null;
  others: string[];
}

function placeTasks({ nodes, edges }: TaskGraph) {
  const depths = new Map(nodes.map(({ task_id, depth }) => [task_id, depth]));
  const dependencies = new Map<string, string[]>(nodes.map(({ task_id }) => [task_id, []]));
  for (const { task_id, depends_on } of edges) dependencies.get(task_id)?.push(depends_on);
  const places = new Map(nodes.map(({ task_id }) => [task_id, placeOf(task_id, dependencies.get(task_id)!, depths)]));
  const children = new Map<string, GraphNode[]>();
  const roots: GraphNode[] = [];
  for (const node of nodes) {
    const { below } = places.get(node.task_id)!;
    const siblings = below === null ? roots : (children.get(below) ?? []);
    siblings.push(node);
    if (below !== null) children.set(below, siblings);
  }
  for (const siblings of [roots, ...children.values()]) siblings.sort((a, b) => byNature(a.task_id, b.task_id));
  return { places, children, roots };
}

/** Below what is less deep than it: of tasks that wait for each other, none is below all others. */
function placeOf(id: string, dependencies: readonly string[], depths: ReadonlyMap<string, number>): TreePosition {
  const sorted = [...dependencies].sort((a, b) => (depths.get(b) ?? -1) - (depths.get(a) ?? -1) || byNature(a, b));
  const below = sorted.find((each) => (depths.get(each) ?? Number.POSITIVE_INFINITY) < depths.get(id)!) ?? null;
  const others = sorted.filter((each) => each !== below);
  return { below, others: others.map((each) => (depths.has(each) ? each : `${each}, not defined`)) };
}

const LONGEST_LABEL = 60;

/** For whatever renders Mermaid. What a title may hold cannot end its label. */
export function formatMermaid({ nodes, edges }: TaskGraph): string[] {
  const names = new Map(nodes.map(({ task_id }, at) => [task_id, `t${at}`]));
  const missing = [...new Set(edges.map(({ depends_on }) => depends_on).filter((id) => !names.has(id)))];
  for (const [at, id] of missing.entries()) names.set(id, `u${at}`);
  return [
    'graph TD',
    ...nodes.map(
      ({ task_id, title, status }) => `  ${names.get(task_id)}["${label(`${task_id} ${title}`)}"]:::${status}`,
    ),
    ...missing.map((id) => `  ${names.get(id)}["${label(`${id} is not defined`)}"]:::blocked`),
    ...edges.map(({ task_id, depends_on }) => `  ${names.get(depends_on)} --> ${names.get(task_id)}`),
    '  classDef todo fill:#ffffff,stroke:#57606a,color:#24292f',
    '  classDef in_progress fill:#fff8c5,stroke:#9a6700,color:#24292f',
    '  classDef blocked fill:#ffebe9,stroke:#cf222e,color:#24292f',
    '  classDef done fill:#dafbe1,stroke:#1a7f37,color:#24292f',
    '  classDef cancelled fill:#f6f8fa,stroke:#8c959f,color:#57606a,stroke-dasharray:4',
  ];
}

function label(text: string): string {
  const characters = [...text];
  const cut = characters.length > LONGEST_LABEL ? [...characters.slice(0, LONGEST_LABEL - 1), '…'] : characters;
  return cut.map((each) => (PLAIN.test(each) ? each : `#${each.codePointAt(0)};`)).join('');
}

const PLAIN = /^[\p{L}\p{N} .,:_/()\u2026-]$/u;
