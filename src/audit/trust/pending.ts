import { HandoffError } from '../../core/error.ts';
import { identityPath, policyPath } from '../../core/paths.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import { recordId, type Suite } from '../../core/record/verify.ts';
import {
  type DocumentVersion,
  isNextVersion,
  type Policy,
  type RootKeys,
  readIdentity,
  readPolicy,
  rootSigners,
  type Trust,
} from '../../core/trust/trust.ts';
import type { Placed, TreePair } from '../delta/differences.ts';
import { finding, type Report } from '../finding.ts';
import { type Entry, FILE, find, type Source } from '../source/source.ts';
import { assertLines, assertNewLines, principalsOf } from './signature-lines.ts';
import { readSuccession } from './succession.ts';
import { assertPlaced, readDocument } from './trust.ts';

type Waiting = ParsedRecord<'policy' | 'identity'>;

interface Judges {
  trust: Trust;
  suite: Suite;
}

/**
 * SPEC §10.3.4: what waits for signatures has no effect, but root principals are asked to sign it: it is one of them who proposes it,
 * and what they have signed so far stays under it. Only the next version can wait: of other numbers there is no end.
 */
export async function auditPending(
  trees: TreePair,
  { path, before, now }: { path: string; before: Entry | null; now: Entry },
  { trust, suite }: Judges,
): Promise<void> {
  const document = await readDocument(trees.now, now, pendingKind(path), trust.repoId);
  assertPlaced(document, now);
  const policy = document.kind === 'policy' ? readPolicy(document, suite) : null;
  if (policy) await assertProposed(policy, trust.policy.root, suite);
  if (document.kind === 'identity') readIdentity(document, suite); // its keys are keys
  assertNext(document, await inForce(trees.now, document, trust, suite), path);
  const roots = policy ? [policy.root] : await proposedRoots(trees.now, trust, suite);
  const arriving = principalsOf(trust.policy.root, ...roots);
  const { old, next, isSame } = await readSuccession(trees, before, now, document.kind, suite);
  if (isSame && old) await assertLines(old, next, { arriving, staying: arriving }, suite);
  else await assertNewLines(next, arriving, suite);
}

/**
 * SPEC §10.3.4: what waits and could still come into force stays, or whoever may push, even without a key, would have a veto: the
 * revocation of a key that was stolen waits too.
 */
export async function reportWithdrawn(
  trees: TreePair,
  changes: readonly Placed[],
  { trust, suite }: Judges,
  report: Report,
): Promise<void> {
  for (const { path, before, now, use } of changes) {
    if (use !== 'pending' || before === null || now !== null) continue;
    if (await unlessBroken(() => couldBeInForce(trees, before, { trust, suite })))
      report(finding('record_deleted', path, 'what waits there for signatures', 'nothing', WAITS_ON));
  }
}

const WAITS_ON =
  'Put it back: git restore --overlay --source=BASE --staged --worktree -- .handoff, then git commit --amend. A root principal who wants something else proposes that in its place (git handoff policy set, identity rotate, identity revoke); it goes once its version is in force.';

/** It is the next version still, and a root principal proposes it. */
async function couldBeInForce({ before, now }: TreePair, entry: Entry, { trust, suite }: Judges): Promise<boolean> {
  const document = await readDocument(before, entry, pendingKind(entry.path), trust.repoId);
  if (!isNextVersion(document, await inForce(now, document, trust, suite))) return false;
  const roots = [trust.policy.root, ...(await proposedRoots(now, trust, suite))];
  for (const root of roots) if ((await rootSigners(document, root, suite)).size > 0) return true;
  return false;
}

/** What a document that waits is to follow; null where a name is new. */
async function inForce(
  source: Source,
  document: Waiting,
  { repoId, policy }: Trust,
  suite: Suite,
): Promise<DocumentVersion | null> {
  if (document.kind === 'policy') return policy;
  const entry = await find(source, identityPath(document.fields.name));
  if (entry?.mode !== FILE) return null;
  const read = async (): Promise<DocumentVersion> => {
    const { fields, signedBytes } = await readDocument(source, entry, 'identity', repoId);
    return { version: fields.version, id: recordId(signedBytes, suite) };
  };
  return unlessBroken(read); // one that is broken is told of at its own path
}

function assertNext(document: Waiting, inForce: DocumentVersion | null, path: string): void {
  if (isNextVersion(document, inForce)) return;
  const say = (version: number, prev: string | null) => `version ${version} with prev ${prev}`;
  const expected = say((inForce?.version ?? 0) + 1, inForce?.id ?? null);
  const found = say(document.fields.version, document.fields.prev);
  throw new HandoffError('policy_rollback', `Only the next version waits: expected ${expected}, found ${found}.`, {
    hint: `Take it out (git rm ${path}), and propose it anew on top of what is in force.`,
    data: { expected, found },
  });
}

function pendingKind(path: string): 'identity' | 'policy' {
  return path.endsWith('/pending.yaml') ? 'identity' : 'policy';
}

/**
 * The root keys of the next policy, if a root principal has proposed one: a key that it brings in may have signed already. Only those
 * count who are principals or maintainers now, because a single proposer may name as many others as they like.
 */
export async function proposedRoots(source: Source, trust: Trust, suite: Suite): Promise<RootKeys[]> {
  const { repoId, policy } = trust;
  const entry = await find(source, policyPath(policy.version + 1, true));
  if (entry?.mode !== FILE) return [];
  const read = async (): Promise<RootKeys> => {
    const proposed = readPolicy(await readDocument(source, entry, 'policy', repoId), suite);
    await assertProposed(proposed, policy.root, suite);
    const principals = [...proposed.root.principals].filter(([name]) => isThere(name, trust));
    return { ...proposed.root, principals: new Map(principals) };
  };
  const root = await unlessBroken(read); // which is told of at its own path
  return root ? [root] : [];
}

async function unlessBroken<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HandoffError && error.exitCode === 1) return null;
    throw error;
  }
}

function isThere(name: string, { policy, identities, distrusted }: Trust): boolean {
  const role = (identities.get(name) ?? distrusted.get(name))?.role;
  return policy.root.principals.has(name) || role === 'maintainer';
}

async function assertProposed({ document }: Policy, root: RootKeys, suite: Suite): Promise<void> {
  if ((await rootSigners(document, root, suite)).size > 0) return;
  throw new HandoffError('signer_unknown', 'Nobody who may propose a policy has signed the one that waits.', {
    hint: 'A root principal proposes the next policy: git handoff policy set KEY VALUE',
    data: { expected: `a signature by one of ${[...root.principals.keys()].join(', ')}`, found: 'none' },
  });
}
