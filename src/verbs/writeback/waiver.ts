import { HandoffError } from '../../core/error.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { assertWritable, withLiveness } from '../../journal/sessions/session-state.ts';
import { requireCommit } from '../../repository/named-commit.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { readTask } from '../../repository/task-definitions.ts';
import { openWriter, type RecordOptions, type RecordResult, writeRecord } from '../session/record-verbs.ts';

export interface WaiverOptions extends RecordOptions {
  sha: string;
  reason: string;
  task?: string;
}

export interface WaiverResult extends RecordResult {
  commit_sha: string;
}

/** A maintainer's exception for one commit: it may be merged without a thought. SPEC §6.1 */
export async function waiver(repository: Repository, options: WaiverOptions): Promise<WaiverResult> {
  enterWorkTree(repository);
  const { sha, reason, task } = options;
  if (reason.trim() === '') throw new HandoffError('usage', 'A waiver needs a reason.', { hint: '--reason TEXT' });
  const writer = await openWriter(repository, options, null);
  const { session, trust } = writer;
  assertWritable(withLiveness(repository, trust, session)); // whose session has ended acts no more
  assertMaintainer(trust, session.identity);
  if (task !== undefined) await readTask(repository, trust, task);
  const { oid: commit_sha } = await requireCommit(repository, sha);
  const fields = { commit_sha, reason, ...(task === undefined ? {} : { task_id: task }) };
  const message = `handoff: ${session.identity} waives ${commit_sha.slice(0, 12)}`;
  return { ...(await writeRecord(writer, { kind: 'waiver', fields }, message, options)), commit_sha };
}

/** Before anything is written: a waiver that somebody else signed is a finding in every audit, for ever. */
function assertMaintainer({ identities }: Trust, name: string): void {
  if (identities.get(name)?.role === 'maintainer') return;
  const names = [...identities.values()].filter(({ role }) => role === 'maintainer').map((each) => each.name);
  throw new HandoffError('not_entitled', `${name} is no maintainer, and only a maintainer may waive a thought.`, {
    hint: `One of ${names.join(', ')} opens a session with git handoff start --as NAME, and writes it there.`,
    data: { identity: name, maintainers: names },
  });
}
