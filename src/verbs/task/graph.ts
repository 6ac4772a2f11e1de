import { formatMermaid, formatTaskTree, type TaskGraph } from '../../core/task/graph.ts';
import { layersOf, linkTasks } from '../../core/task/order.ts';
import { byNature } from '../../core/text/natural-order.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { assertNoCycle, readBoard } from '../../tasks/board.ts';

export interface TaskGraphResult extends TaskGraph {
  format: 'text' | 'mermaid';
  text: string;
  mermaid: string;
}

/** The tasks and what they wait for. */
export async function taskGraph(
  repository: Repository,
  { format = 'text' }: { format?: 'text' | 'mermaid' } = {},
): Promise<TaskGraphResult> {
  const { tasks, statusOf } = await readBoard(repository, await requireTrust(repository));
  const linked = linkTasks(tasks);
  assertNoCycle(linked);
  const layers = layersOf(linked).map((layer) => layer.sort((a, b) => byNature(a.task_id, b.task_id)));
  const nodes = layers.flatMap((layer, depth) =>
    layer.map(({ task_id, title }) => ({ task_id, title, status: statusOf(task_id), depth })),
  );
  const edges = layers
    .flat()
    .flatMap(({ task_id, depends_on }) => [...new Set(depends_on)].map((each) => ({ task_id, depends_on: each })));
  const graph = { nodes, edges };
  const [text, mermaid] = [formatTaskTree(graph), formatMermaid(graph)].map((lines) => `${lines.join('\n')}\n`);
  return { format, text: text!, mermaid: mermaid!, ...graph };
}
