import { HandoffError } from '../../core/error.ts';
import { batonInHand } from '../../custody/baton/baton-in-hand.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import { positionFields, readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { type Author, openWriter, type RecordOptions, writeRecord } from './record-verbs.ts';

export interface AcceptResult extends Author {
  delta_id: string;
  path: string;
  /** The one that was taken in. */
  baton: string;
}

/** Says that a baton was taken in, and in whose words what comes next. SPEC §8.5: a checkpoint that names it. */
export async function accept(
  repository: Repository,
  options: RecordOptions & { text?: string } = {},
): Promise<AcceptResult> {
  enterWorkTree(repository);
  const writer = await openWriter(repository, options, null);
  const { session, trust } = writer;
  const handed = batonInHand(await readKnownSessions(repository, trust), session);
  if (!handed || handed.session_id === session.session_id) throw nothingHanded(session.session_id);
  const text = options.text?.trim() ? { text: options.text } : {};
  const fields = { ...text, baton: handed.delta_id, ...positionFields(await readPosition(repository)) };
  const message = `handoff: ${session.identity} accepts`;
  const written = await writeRecord(writer, { kind: 'checkpoint', fields }, message, options);
  return { ...written, baton: handed.delta_id };
}

function nothingHanded(session_id: string): HandoffError {
  return new HandoffError('usage', 'This session was handed no baton, so there is none to accept.', {
    hint: 'A session that pickup has opened has one; git handoff batons shows those that wait. For a point to come back to: git handoff checkpoint TEXT',
    data: { session_id },
  });
}
