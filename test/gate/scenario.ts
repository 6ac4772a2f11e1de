import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { HandoffError } from '../../src/core/error.ts';
import type { DocumentKind } from '../../src/core/record/kinds.ts';
import { isDocument, parseRecord } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { nodeHashes } from '../../src/crypto.ts';
import type { GateResult } from '../../src/gate/result.ts';
import { readChanges } from '../../src/git/changes/changes.ts';
import { readRange } from '../../src/git/refs/range.ts';
import {
  type Draft,
  type Place,
  privateKey,
  type SessionOptions,
  type Written,
  writeBytes,
  writeSession,
} from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { type NamedKey, policyAfter, reopen, signDocument, writePolicy } from '../threats/forge.ts';

/** Writes files and commits them and nothing else. Returns the commit. */
export function code({ dir }: Place, files: Record<string, string>, message = 'task: code'): string {
  for (const [path, text] of Object.entries(files)) writeBytes(dir, path, text);
  git(dir, '--literal-pathspecs', 'add', '--', ...Object.keys(files));
  git(dir, 'commit', '--quiet', '--message', message);
  return headOf(dir);
}

/** What HEAD is at, without a process where a loose ref says so. */
export function headOf(dir: string): string {
  const read = (name: string) => readFileSync(join(dir, '.git', name), 'utf8').trim();
  try {
    const head = read('HEAD');
    return head.startsWith('ref: ') ? read(head.slice(5)) : head;
  } catch {
    return git(dir, 'rev-parse', 'HEAD');
  }
}

/** A thought for everything since `base`, as the verb would fill it in. */
export async function thoughtSince({ dir }: Place, base: string, commit = headOf(dir)): Promise<Draft> {
  const at = { dir, env: isolatedEnv };
  const revs = git(dir, 'rev-parse', `${base}^{tree}`, `${commit}^{tree}`, base, commit).split('\n');
  const [before, after, from, to] = revs as [string, string, string, string];
  const { commits } = await readRange(at, to, [from]);
  const [whole, ...each] = await readChanges(
    at,
    [{ before, after }, ...commits.map(({ oid }) => ({ commit: oid }))],
    '.handoff',
  );
  return {
    kind: 'thought',
    task_id: 'P0.1',
    branch: 'feature',
    commit_sha: to,
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
  return headOf(dir);
}

export function branch({ dir }: Place, name: string, from = 'HEAD'): void {
  git(dir, 'checkout', '--quiet', '-b', name, from);
}

export function checkout({ dir }: Place, name: string): void {
  git(dir, 'checkout', '--quiet', name);
}

export interface Honest {
  base: string;
  commit: string;
  records: Written[];
  thought: Draft;
}

/** The usual way: a branch with one commit of code, a thought for it, and a baton. */
export async function honestBranch(
  place: Place,
  name = 'feature',
  files: Record<string, string> = { 'src/a.ts': 'a\n' },
): Promise<Honest> {
  const base = headOf(place.dir);
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

/** What a scenario leaves to be judged. */
export interface Change {
  /** What the protected branch has: `main` unless said otherwise; null: nothing yet. */
  base?: string | null;
  /** `HEAD` unless said otherwise. */
  head?: string;
  /** Head takes base's place as it is, as a forced push does. */
  replaces?: boolean;
  root?: string;
  /** What is done to the repository that judges, be it this one or a server. Gets its git directory. */
  environment?(gitDir: string): void;
  env?: NodeJS.ProcessEnv;
  /** Looks at the repository after it has judged. */
  after?(gitDir: string): void;
}

/** A pull request, honest or not. The same runs through `gate` and is pushed to a server. */
export interface Scenario {
  name: string;
  /** The row of the list of threats. */
  threat?: number;
  /** All codes that are found; none when it is honest. */
  expect?: string | string[];
  /** Cannot be sent to a server: it is about the clone that judges, or about how it is asked. */
  isLocal?: boolean;
  /** Takes the same way through the gate as the one before it. */
  isVariant?: boolean;
  // biome-ignore lint/suspicious/noConfusingVoidType: most have nothing to add
  build(place: Place): Promise<Change | void> | Change | void;
}

/** By name, for `test.each`. */
export function named(scenarios: readonly Scenario[]): [string, Scenario][] {
  return scenarios.map((scenario) => [scenario.name, scenario]);
}

/** A push takes its time: of variants that differ in a name or a number, the first goes to the server. */
export function isPushed({ isLocal, isVariant }: Scenario): boolean {
  return !isLocal && !isVariant;
}

/** The codes of all errors, each once; or of the error that ended it. */
export async function codesOf(place: Place, change: Change): Promise<string[]> {
  const { base = 'main', head = 'HEAD', replaces, root, environment, env = place.env, after } = change;
  const gitDir = git(place.dir, 'rev-parse', '--absolute-git-dir');
  environment?.(gitDir);
  const { handoff } = reopen(place, place.dir, env);
  const options = { base: base ?? '0'.repeat(40), head, ...(replaces ? { replaces } : {}), ...(root ? { root } : {}) };
  try {
    const { pass, findings } = await handoff.gate(options);
    const codes = findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
    if (pass !== (codes.length === 0)) throw new Error('pass and findings differ');
    return [...new Set<string>(codes)].sort();
  } catch (error) {
    if (error instanceof HandoffError) return [error.code];
    throw error;
  } finally {
    after?.(gitDir);
  }
}

export function maintainer(place: Place): NamedKey {
  return ['maintainer', privateKey(place, 'maintainer')];
}

/** A signed document, written and committed. */
export function document(
  place: Place,
  path: string,
  fields: YamlMap & { kind: DocumentKind },
  signers: NamedKey[] = [maintainer(place)],
): void {
  writeBytes(place.dir, `.handoff/${path}`, signDocument(fields, signers));
  commitRecords(place, `handoff: ${path}`);
}

export function taskFields(place: Place, id: string, changes: YamlMap = {}): YamlMap & { kind: 'task-definition' } {
  const common = { handoff: 1, kind: 'task-definition' as const, repo: place.root, version: 1, prev: null };
  return { ...common, at: '2026-02-20T14:30:25.123Z', task_id: id, title: `Task ${id}`, ...changes };
}

export function defined(place: Place, id: string, depends_on: string[] = []): void {
  document(place, `tasks/${id}.yaml`, taskFields(place, id, depends_on.length > 0 ? { depends_on } : {}));
}

/** A task's next version, with these dependencies instead of those that it had. */
export function waiting(place: Place, id: string, depends_on: string[]): void {
  const path = `tasks/${id}.yaml`;
  document(place, path, documentAfter(place, path, { depends_on }));
}

/** The next version of an identity as it stands, changed. */
export function identityAfter(place: Place, name: string, changes: YamlMap): YamlMap & { kind: DocumentKind } {
  return documentAfter(place, `identities/${name}/identity.yaml`, changes);
}

/** The same of any document. */
export function documentAfter(place: Place, path: string, changes: YamlMap): YamlMap & { kind: DocumentKind } {
  const document = parseRecord(readFileSync(join(place.dir, '.handoff', path)));
  if (!isDocument(document)) throw new Error(`${path} is no document`);
  const { signedBytes, fields } = document;
  const { nonce: _, handoff, kind, ...rest }: YamlMap & { kind: DocumentKind } = fields;
  const version = fields.version + 1;
  const common = { handoff: handoff!, kind, repo: place.root };
  return { ...common, ...rest, version, prev: recordId(signedBytes, nodeHashes), ...changes };
}

/** A policy of the next version, signed and committed. */
export function policy(place: Place, changes: YamlMap, signers: NamedKey[] = [maintainer(place)], prior = 1): void {
  writePolicy(place, prior + 1, policyAfter(place, prior, changes), signers);
  commitRecords(place, `handoff: policy ${prior + 1}`);
}

export function merge({ dir }: Place, ...args: string[]): void {
  git(dir, 'merge', '--quiet', '--no-edit', ...args);
}

/** A commit on top of HEAD with the tree that the index has after `stage`. */
export function staged({ dir }: Place, stage: () => void, message = 'task: code'): string {
  stage();
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', message);
  return headOf(dir);
}
