import { policyPath } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { readPolicy, type Trust } from '../../core/trust/trust.ts';
import { type Entry, find, type Source } from '../source/source.ts';
import { assertNewLines, principalsOf } from './signature-lines.ts';
import { readDocument } from './trust.ts';

/** SPEC §10.3.3: a policy is never changed, so what stands under it when it arrives stays: root principals of it, and of the one before. */
export async function auditPolicyLines(source: Source, entry: Entry, trust: Trust, suite: Suite): Promise<void> {
  const policy = await readVersion(source, entry, trust, suite);
  if (!trust.policyIds.includes(policy.id)) return; // what is wrong with it was told
  const prior = await find(source, policyPath(policy.version - 1));
  const roots = prior ? [(await readVersion(source, prior, trust, suite)).root] : [];
  await assertNewLines(policy.document, principalsOf(policy.root, ...roots), suite);
}

async function readVersion(source: Source, entry: Entry, { repoId }: Trust, suite: Suite) {
  const isFirst = entry.path === policyPath(1);
  return readPolicy(await readDocument(source, entry, 'policy', isFirst ? null : repoId), suite);
}
