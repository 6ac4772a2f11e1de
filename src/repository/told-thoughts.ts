import type { Evidence } from '../audit/evidence/evidence.ts';
import { HandoffError } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { type TaskTrail, thoughtsSinceEntered } from '../core/task/state.ts';
import {
  decisiveAmong,
  type EvidenceRule,
  judgeRuns,
  type RunVerdict,
  type Told,
  type ToldOfTask,
  toTold,
  treesOfRuns,
} from '../core/writeback/runs.ts';
import type { Oid } from '../git/objects/store.ts';
import { unlessMalformed } from '../git/objects/tree-object.ts';
import type { GitAccess } from './parts.ts';

/** The thoughts of tasks, whole: a trail has the beginning of each. `arrived`: those that are in no tree of `evidence`. */
export async function readThoughts(
  evidence: Evidence,
  trails: readonly TaskTrail[],
  arrived: readonly PlacedRecord<'thought'>[] = [],
): Promise<Map<string, PlacedRecord<'thought'>>> {
  const whole = new Map(arrived.map((placed) => [placed.record.id, placed]));
  const missing = trails.flatMap(({ thoughts }) => thoughts).filter(({ delta_id }) => !whole.has(delta_id));
  const commits = new Set(missing.map(({ commit }) => commit));
  for (const placed of await evidence.thoughtsAbout(commits, [])) whole.set(placed.record.id, placed);
  return whole;
}

/** What those of one task tell about runs. A commit that is here says itself which tree it has. */
export async function toldBy(
  repository: GitAccess,
  trail: TaskTrail,
  whole: ReadonlyMap<string, PlacedRecord<'thought'>>,
): Promise<ToldOfTask> {
  const all: Told[] = [];
  for (const { delta_id } of trail.thoughts) {
    const { path, record } = whole.get(delta_id) ?? lost(delta_id);
    const told = toTold(record.fields, { delta_id: record.id, path });
    all.push({ ...told, tree: (await treeOf(repository, record.fields.commit_sha)) ?? told.tree });
  }
  const since = new Set(thoughtsSinceEntered(trail).map(({ delta_id }) => delta_id));
  return { all, since: all.filter(({ delta_id }) => since.has(delta_id!)) };
}

/** SPEC §10.5, where code is compared as far as its trees are here. */
export async function judgeTold(repository: GitAccess, told: ToldOfTask, asked: EvidenceRule): Promise<RunVerdict> {
  const tree = decisiveAmong(told.since)?.tree ?? null;
  return judgeRuns(told, await treesWithCodeOf(repository, tree, treesOfRuns(told.all)), asked);
}

/** A verdict without it would be another one. */
function lost(id: string): never {
  throw new HandoffError('io', `The thought record ${id} is listed, and cannot be read.`);
}

async function treeOf({ store }: GitAccess, commit: Oid): Promise<Oid | null> {
  if (!(await store.has(`${commit}^{commit}`))) return null;
  return unlessMalformed(store.readCommit(commit)).then((found) => found?.tree ?? null);
}

/** Which of these trees have the same code as one tree; records may differ. A tree that is not here counts as different, unless it has the same id. */
export async function treesWithCodeOf(
  repository: GitAccess,
  tree: Oid | null,
  others: Iterable<Oid>,
): Promise<Set<Oid>> {
  if (tree === null) return new Set();
  const same = new Set([tree]);
  let code: string | null | undefined;
  for (const other of others) {
    if (same.has(other)) continue;
    if (code === undefined) code = await codeIn(repository, tree);
    if (code !== null && (await codeIn(repository, other)) === code) same.add(other);
  }
  return same;
}

/** Folders are compared by their ids. */
async function codeIn({ store }: GitAccess, tree: Oid): Promise<string | null> {
  const found = (await store.has(`${tree}^{tree}`)) ? await unlessMalformed(store.readTree(tree)) : null;
  const entries = found?.entries.filter(({ name }) => name !== ROOT);
  return entries ? entries.map(({ mode, name, oid }) => `${mode} ${oid} ${name}`).join('\0') : null;
}
