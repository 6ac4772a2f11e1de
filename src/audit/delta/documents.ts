import { isDocumentKind } from '../../core/record/kinds.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import type { Suite } from '../../core/record/verify.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { attempt, finding, type Report } from '../finding.ts';
import { type Entry, find, type Source } from '../source/source.ts';
import { assertEntitled } from '../tree/entitled.ts';
import {
  assertLines,
  assertNewLines,
  type Lines,
  listedBy,
  maintainersOf,
  principalsOf,
} from '../trust/signature-lines.ts';
import { assertFollowsDocument, identitiesIn, readSuccession, type VersionReader } from '../trust/succession.ts';
import { checkSkill, readDocument, readSignedDocument } from '../trust/trust.ts';
import { isAccepted } from './accepted.ts';
import type { Placed, TreePair } from './differences.ts';

/** The trust by which documents are judged. */
export interface Judges {
  /** Who is trusted once they are accepted. */
  trust: Trust;
  /** Who was trusted before. */
  old: Trust;
  suite: Suite;
  readVersions: VersionReader;
  /** What the trunk has, where that is another branch. */
  trunk: Source | null;
}

/** SPEC §10.3.2, §10.3.3: whatever arrives and is no record is signed by whom it must be, and follows what stood there. */
export async function auditDocuments(
  trees: TreePair,
  changes: readonly Placed[],
  judges: Judges,
  report: Report,
): Promise<void> {
  const { trust, suite } = judges;
  for (const change of changes) {
    const { path, now, use } = change;
    if (use === 'record' || use === 'ledger') continue;
    await attempt(path, report, () => auditDocument(trees, change, judges));
    if (use === 'task-definition') await attempt(path, report, () => assertTaskName(trees.now, now!, trust, report));
    const skill = use === 'skill' ? now : use === 'identity' ? await unchangedSkill(trees.now, path, changes) : null;
    if (skill)
      await attempt(skill.path, report, () => checkSkill(trees.now, skill, ownerOf(path, trust), suite, report));
  }
}

/** SPEC §10.3.1: nobody signs a skill, so nobody but its identity, which is signed, takes it away. */
export function reportLostSkills(changes: readonly Placed[], trust: Trust, report: Report): void {
  for (const { path, now, use } of changes) {
    // of one that is distrusted too: it may be signed anew
    const owner = ownerOf(path, trust) ?? trust.distrusted.get(nameIn(path));
    const expected = owner?.document.fields.skill;
    if (use !== 'skill' || now !== null || typeof expected !== 'string') continue;
    report(finding('record_deleted', path, `the skill ${expected}, which its identity names`, 'nothing', RESTORE));
  }
}

const RESTORE =
  'Put it back: git restore --overlay --source=BASE --staged --worktree -- .handoff, then git commit --amend';

async function auditDocument(trees: TreePair, { path, before, now, use }: Placed, judges: Judges): Promise<void> {
  const { trust, suite } = judges;
  // few changes have any of these: the others need not load them
  if (use === 'proof') return (await import('./arrived-proof.ts')).auditArrivedProof(trees.now, now!, trust, suite);
  if (use === 'policy')
    return (await import('../trust/policy-lines.ts')).auditPolicyLines(trees.now, now!, trust, suite);
  if (use === 'pending')
    return (await import('../trust/pending.ts')).auditPending(trees, { path, before, now: now! }, judges);
  if (use === 'skill') return;
  if (use === null || !isDocumentKind(use)) return;
  if (use !== 'identity') await readSignedDocument(trees.now, now!, use, trust, suite);
  else await readDocument(trees.now, now!, use, trust.repoId); // who signed an identity is judged below
  const succession = await readSuccession(trees, before, now!, use, suite);
  const { old, next, isSame } = succession;
  // a cutoff that was decided on the trunk counts what is sealed there
  const sealing = judges.trunk && (await isAccepted(now!, judges.trunk)) ? judges.trunk : trees.now;
  await assertFollowsDocument(succession, path, sealing, judges.readVersions, suite);
  const lines = await linesUnder(trees.now, next, judges);
  if (isSame) return assertLines(old!, next, lines, suite);
  const identities = identitiesIn(succession, suite);
  if (identities) await assertEntitled(identities.was, identities.is, trust.policy, suite);
  await assertNewLines(next, lines.arriving, suite);
}

/** A root key that is being rotated signs maintainers before the policy that brings it in is in force. */
async function linesUnder(source: Source, document: ParsedRecord, { old, trust, suite }: Judges): Promise<Lines> {
  const [trustedNow, listed] = [maintainersOf(old, trust), listedBy(trust)];
  if (document.kind !== 'identity' || document.fields.role !== 'maintainer')
    return { arriving: trustedNow, staying: listed };
  const coming = principalsOf(...(await (await import('../trust/pending.ts')).proposedRoots(source, trust, suite)));
  return { arriving: (line) => trustedNow(line) ?? coming(line), staying: (line) => listed(line) ?? coming(line) };
}

/** An identity that changes may name another skill than the one that stays. */
async function unchangedSkill(source: Source, identity: string, changes: readonly Placed[]): Promise<Entry | null> {
  const path = identity.replace(/identity\.yaml$/, 'skill.md');
  return changes.some((change) => change.path === path) ? null : find(source, path);
}

function ownerOf(path: string, trust: Trust): Identity | undefined {
  return trust.identities.get(nameIn(path));
}

function nameIn(path: string): string {
  return path.split('/')[2]!;
}

/** A task stands in the file of its id. */
async function assertTaskName(source: Source, entry: Entry, { repoId }: Trust, report: Report): Promise<void> {
  const { fields } = await readDocument(source, entry, 'task-definition', repoId);
  if (`${fields.task_id}.yaml` === entry.name) return;
  report(finding('path_mismatch', entry.path, `${fields.task_id}.yaml`, entry.name, 'Name the file after the task.'));
}
