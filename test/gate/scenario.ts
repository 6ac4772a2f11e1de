import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readChanges } from '../../src/git/changes.ts';
import { readRange } from '../../src/git/range.ts';
import type { GateResult } from '../../src/verbs/gate-result.ts';
import { type Draft, type Place, type SessionOptions, type Written, writeBytes, writeSession } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { reopen } from '../threats/forge.ts';

/** Writes files and commits them and nothing else. Returns the commit. */
export function code({ dir }: Place, files: Record<string, string>, message = 'task: code'): string {
  for (const [path, text] of Object.entries(files)) writeBytes(dir, path, text);
  git(dir, 'add', '--', ...Object.keys(files));
  git(dir, 'commit', '--quiet', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

/** A thought for everything since `base`, as the verb would fill it in. */
export async function thoughtSince(
  { dir }: Place,
  base: string,
  commit = git(dir, 'rev-parse', 'HEAD'),
): Promise<Draft> {
  const at = { dir, env: isolatedEnv };
  const [before, after] = [base, commit].map((rev) => git(dir, 'rev-parse', `${rev}^{tree}`)) as [string, string];
  const { commits } = await readRange(at, commit, [git(dir, 'rev-parse', base)]);
  const [whole, ...each] = await readChanges(
    at,
    [{ before, after }, ...commits.map(({ oid }) => ({ commit: oid }))],
    '.handoff',
  );
  return {
    kind: 'thought',
    task_id: 'P0.1',
    branch: 'feature',
    commit_sha: commit,
    tree: after,
    ...(whole!.patchId ? { patch_id: whole!.patchId } : {}),
    commit_patch_ids: each.map(({ patchId }) => patchId).filter((id) => id !== null),
    tests_run: ['npm test'],
    summary: 'It does what it should.',
    blockers: [],
    files_changed: [...whole!.paths].sort(),
    related_thought_records: [],
  };
}

export const START: Draft = { kind: 'start', head: null };
export const BATON: Draft = { kind: 'baton', summary: 'done', body: 'done\n' };
export const IN_PROGRESS: Draft = { kind: 'task', task_id: 'P0.1', status: 'in_progress' };
export const DONE: Draft = { kind: 'task', task_id: 'P0.1', status: 'done', progress: 100 };

/** A session's records, committed on the branch that is checked out. */
export function session(place: Place, drafts: Draft[], options: SessionOptions = {}): Written[] {
  const written = writeSession(place, drafts, options);
  commitRecords(place);
  return written;
}

export function commitRecords({ dir }: Place, message = 'handoff: records'): string {
  git(dir, 'add', '--all', '--', '.handoff');
  git(dir, 'commit', '--quiet', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

export function branch({ dir }: Place, name: string, from = 'HEAD'): void {
  git(dir, 'checkout', '--quiet', '-b', name, from);
}

export function checkout({ dir }: Place, name: string): void {
  git(dir, 'checkout', '--quiet', name);
}

/** The usual way: a branch with one commit of code, a thought for it, and a baton. */
export async function honestBranch(
  place: Place,
  name = 'feature',
  files: Record<string, string> = { 'src/a.ts': 'a\n' },
) {
  const base = git(place.dir, 'rev-parse', 'HEAD');
  branch(place, name, base);
  const commit = code(place, files);
  const thought = await thoughtSince(place, base, commit);
  const records = session(place, [START, IN_PROGRESS, { ...thought, branch: name }, DONE, BATON]);
  return { base, commit, records, thought };
}

/** What a new process says. */
export async function judge(place: Place, base = 'main', head = 'HEAD', options: object = {}): Promise<GateResult> {
  return reopen(place).handoff.gate({ base, head, ...options });
}

/** `code path-or-commit`, without the folders of sessions. */
export async function verdict(place: Place, base = 'main', head = 'HEAD', options: object = {}): Promise<string[]> {
  const { pass, findings } = await judge(place, base, head, options);
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (pass !== (errors.length === 0)) throw new Error('pass and findings differ');
  return errors.map(({ code, path }) =>
    `${code} ${path?.replace(/^\.handoff\/(?:sessions\/[^/]+\/[^/]+\/)?/, '') ?? ''}`.trim(),
  );
}

export function write({ dir }: Place, path: string, text: string): void {
  writeFileSync(join(dir, path), text);
}
