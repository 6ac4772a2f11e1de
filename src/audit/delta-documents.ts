import type { DocumentKind } from '../core/kinds.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { parseRecord } from '../core/record.ts';
import { type Identity, readIdentity, type Trust } from '../core/trust.ts';
import type { Suite } from '../core/verify.ts';
import type { Placed, Step } from './differences.ts';
import { attempt, finding, type Report } from './finding.ts';
import type { Place } from './place.ts';
import { type Entry, find, type Source } from './source.ts';
import { assertCutoffs, assertFollowsDocument } from './succession.ts';
import { checkSkill, readDocument, readSignedDocument } from './trust.ts';

/** SPEC §10.3: whatever arrives and is no record is signed by whom it must be, and follows what stood there. */
export async function auditDocuments(
  step: Step,
  changes: readonly Placed[],
  { trust, suite }: { trust: Trust; suite: Suite },
  report: Report,
): Promise<void> {
  for (const { path, before, now, place } of changes) {
    if (place === 'record' || place === 'policy' || place === 'ledger') continue;
    if (place === 'proof') {
      await attempt(path, report, async () =>
        (await import('./ledger-audit.ts')).auditProof(step.now, now!, trust, suite),
      );
      continue;
    }
    await attempt(path, report, async () => {
      if (SIGNED.has(place!)) await readSignedDocument(step.now, now!, place as DocumentKind, trust, suite);
      if (place === 'pending') await readDocument(step.now, now!, pendingKind(path), trust.repoId);
      else if (before && place !== 'skill') await assertFollowsDocument(step, before, now!, suite);
      else if (place === 'identity') await assertCutoffs(step.now, await readIdentityFile(step.now, now!, suite));
    });
    if (place === 'task-definition') await attempt(path, report, () => assertTaskName(step.now, now!, trust, report));
    const skill = place === 'skill' ? now : place === 'identity' ? await unchangedSkill(step.now, path, changes) : null;
    if (skill)
      await attempt(skill.path, report, () => checkSkill(step.now, skill, ownerOf(path, trust), suite, report));
  }
}

async function readIdentityFile(source: Source, entry: Entry, suite: Suite): Promise<Identity> {
  return readIdentity(parseRecord(await source.read(entry, MAX_RECORD_BYTES)), suite);
}

const SIGNED: ReadonlySet<Place> = new Set(['project', 'task-definition']);

/** An identity that changes may name another skill than the one that stays. */
async function unchangedSkill(source: Source, identity: string, changes: readonly Placed[]): Promise<Entry | null> {
  const path = identity.replace(/identity\.yaml$/, 'skill.md');
  return changes.some((change) => change.path === path) ? null : find(source, path);
}

function pendingKind(path: string): DocumentKind {
  return path.endsWith('/pending.yaml') ? 'identity' : 'policy';
}

function ownerOf(path: string, trust: Trust): Identity | undefined {
  return trust.identities.get(path.split('/')[2]!);
}

/** A task stands in the file of its id. */
async function assertTaskName(source: Source, entry: Entry, { repoId }: Trust, report: Report): Promise<void> {
  const { fields } = await readDocument(source, entry, 'task-definition', repoId);
  if (`${fields.task_id}.yaml` === entry.name) return;
  report(finding('path_mismatch', entry.path, `${fields.task_id}.yaml`, entry.name, 'Name the file after the task.'));
}
