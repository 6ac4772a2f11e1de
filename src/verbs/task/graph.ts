import { dependenciesOf, isOnCycle, ringsOf } from '../../core/task/cycle.ts';
import { formatMermaid, formatTaskTree, type TaskGraph } from '../../core/task/graph.ts';
import { type LinkedTasks, layersOf, linkTasks } from '../../core/task/order.ts';
import { byNature } from '../../core/text/natural-order.ts';
import { warnOfCycle } from '../../custody/cycle-warning.ts';
import type { Repository } from '../../repository/repository.ts';
import type { TaskDefinition } from '../../repository/task-definitions.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { readBoard } from '../../tasks/board.ts';

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
  warnOfCycle(repository, tasks, statusOf);
  const layers = layersOf(linkWithoutCycles(tasks)).map((layer) =>
    layer.sort((a, b) => byNature(a.task_id, b.task_id)),
  );
  const dependencies = dependenciesOf(tasks);
  const nodes = layers.flatMap((layer, depth) =>
    layer.map(({ task_id, title }) => ({ task_id, title, status: statusOf(task_id), depth })),
  );
  const edges = layers
    .flat()
    .flatMap(({ task_id }) => [...new Set(dependencies.get(task_id))].map((each) => ({ task_id, depends_on: each })));
  const graph = { nodes, edges };
  const [text, mermaid] = [formatTaskTree(graph), formatMermaid(graph)].map((lines) => `${lines.join('\n')}\n`);
  return { format, text: text!, mermaid: mermaid!, ...graph };
}

/** Those that wait for each other stand where they would without that: it is drawn all the same. */
function linkWithoutCycles(tasks: readonly TaskDefinition[]): LinkedTasks<TaskDefinition> {
  const linked = linkTasks(tasks);
  if (linked.order.length === tasks.length) return linked;
  const rings = ringsOf(dependenciesOf(tasks));
  return linkTasks(
    tasks.map((task) => ({ ...task, depends_on: task.depends_on.filter((id) => !isOnCycle(rings, task.task_id, id)) })),
  );
}
