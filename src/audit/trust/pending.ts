import { HandoffError } from '../../core/error.ts';
import { policyPath } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import {
  type Policy,
  type RootKeys,
  readIdentity,
  readPolicy,
  rootSigners,
  type Trust,
} from '../../core/trust/trust.ts';
import type { Step } from '../delta/differences.ts';
import { type Entry, FILE, find, type Source } from '../source/source.ts';
import { assertLines, assertNewLines, principalsOf } from './signature-lines.ts';
import { readSuccession } from './succession.ts';
import { assertPlaced, readDocument } from './trust.ts';

/**
 * SPEC §10.3: what waits for signatures has no effect, but root principals are asked to sign it: it is one of them who proposes it,
 * and what they have signed so far stays under it.
 */
export async function auditPending(
  step: Step,
  { path, before, now }: { path: string; before: Entry | null; now: Entry },
  { trust, suite }: { trust: Trust; suite: Suite },
): Promise<void> {
  const document = await readDocument(step.now, now, pendingKind(path), trust.repoId);
  assertPlaced(document, now);
  const policy = document.kind === 'policy' ? readPolicy(document, suite) : null;
  if (policy) await assertProposed(policy, trust.policy.root, suite);
  if (document.kind === 'identity') readIdentity(document, suite); // its keys are keys
  const roots = policy ? [policy.root] : await proposedRoots(step.now, trust, suite);
  const find = principalsOf(trust.policy.root, ...roots);
  const { old, next, isSame } = await readSuccession(step, before, now, document.kind, suite);
  if (isSame && old) await assertLines(old, next, find, suite);
  else await assertNewLines(next, find, suite);
}

function pendingKind(path: string): 'identity' | 'policy' {
  return path.endsWith('/pending.yaml') ? 'identity' : 'policy';
}

/** Of the next policy, where one waits that a root principal has proposed: a key that it brings in may have signed already. */
export async function proposedRoots(source: Source, { repoId, policy }: Trust, suite: Suite): Promise<RootKeys[]> {
  const entry = await find(source, policyPath(policy.version + 1, true));
  if (entry?.mode !== FILE) return [];
  try {
    const proposed = readPolicy(await readDocument(source, entry, 'policy', repoId), suite);
    await assertProposed(proposed, policy.root, suite);
    return [proposed.root];
  } catch (error) {
    if (error instanceof HandoffError && error.exitCode === 1) return []; // which is told of at its own path
    throw error;
  }
}

async function assertProposed({ document }: Policy, root: RootKeys, suite: Suite): Promise<void> {
  if ((await rootSigners(document, root, suite)).size > 0) return;
  throw new HandoffError('signer_unknown', 'Nobody who may propose a policy has signed the one that waits.', {
    hint: 'A root principal proposes the next policy: git handoff policy set KEY VALUE',
    data: { expected: `a signature by one of ${[...root.principals.keys()].join(', ')}`, found: 'none' },
  });
}
