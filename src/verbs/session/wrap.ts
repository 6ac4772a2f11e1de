import { maxBytes } from '../../audit/tree/session.ts';
import { hinting } from '../../core/error.ts';
import { recordName } from '../../core/paths.ts';
import { present } from '../../core/record/present.ts';
import { parseAs } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import { missingSections } from '../../core/text/sections.ts';
import { nodeSuite } from '../../crypto.ts';
import { countBlanks } from '../../custody/baton/baton-draft.ts';
import { focusWarnings, noThoughtWarnings, savedHereWarnings } from '../../custody/baton/left-undone.ts';
import type { Warning } from '../../custody/bundle.ts';
import { releaseIdentity } from '../../custody/open-session.ts';
import { sectionWarning } from '../../custody/section-warning.ts';
import { append, type Writer } from '../../journal/append.ts';
import { publishRecords, warnIfOnNoBranch } from '../../journal/commits/publish-records.ts';
import { isStillCommitted } from '../../journal/commits/recover-records.ts';
import { removeTrailers } from '../../journal/commits/trailers.ts';
import { type BatonInput, batonFields, firstLine, readBaton } from '../../journal/drafts/baton.ts';
import type { DraftFields } from '../../journal/drafts/draft.ts';
import { releaseClaims } from '../../journal/locks/task-lock.ts';
import { type SaveOptions, type Saving, withSaved } from '../../journal/saved/save-changes.ts';
import type { Saved } from '../../journal/saved/saved-name.ts';
import { isCommitted, unmarkCommitted } from '../../journal/sessions/committed.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { lastButSeals } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { whileSealing } from '../../journal/sessions/sealing.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { isRebasing, positionFields, readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { newestSeal, type Sealed } from '../../sealing/seal-plan.ts';
import { assertSealable } from '../../sealing/sealable.ts';
import { appendSeal } from '../seal/seal.ts';
import { type Author, allowedSecret, authorOf, openWriter, type RecordOptions } from './record-verbs.ts';

export interface WrapOptions extends RecordOptions, BatonInput, SaveOptions {
  /** Seal the session as well. */
  seal?: boolean;
  /** What a relay says to the successor first. */
  injectionPrompt?: string;
  /** Nobody who did the work wrote the text: it was put together from what is known. */
  reconstructed?: true;
}

export interface WrapResult extends Author {
  baton: { delta_id: string; path: string; summary: string };
  /** What was not committed, as the baton names it; null where all was. */
  saved: Saved | null;
  /** With `seal`. */
  seal?: Sealed;
  commit: string | null;
  warnings: Warning[];
}

/** Ends a session with a baton. SPEC §8.6: bad input leaves the session as it was. */
export async function wrap(repository: Repository, options: WrapOptions): Promise<WrapResult> {
  enterWorkTree(repository);
  const { fields: given, body } = await readBaton(options);
  const fields = batonFields(given, options);
  const writer = await openWriter(repository, options, fields.next_agent ?? null);
  const write = () => writeBaton(writer, fields, body, options);
  if (!options.seal) return write();
  return whileSealing(dirsOf(repository), writer.session.session_id, repository, write);
}

async function writeBaton(
  writer: Writer,
  fields: DraftFields,
  body: string,
  options: WrapOptions,
): Promise<WrapResult> {
  const { repository, session, trust } = writer;
  const left = await unfinishedBaton(repository, session, body);
  // a session that is over is told so by `append`, which keeps the text
  const isSealable = left !== null || isOpen(withLiveness(repository, trust, session).liveness);
  if (options.seal && isSealable) {
    const sealable = assertSealable(writer);
    await (left ? sealable : sealable.catch(hinting('seal_too_early', THINK_FIRST)));
  }
  if (left) return finish(repository, writer, left, body, options);
  const { summary = firstLine(body), reason, next_agent, focus } = fields;
  const position = await readPosition(repository);
  const room = maxBytes(trust) - Buffer.byteLength(body) - FRONT;
  const { written, ...saving } = await withSaved(repository, session, options, position, room, (saved) =>
    append(writer, {
      kind: 'baton',
      fields: present({
        summary,
        reason,
        injection_prompt: options.injectionPrompt,
        next_agent,
        focus,
        ...positionFields(position),
        saved: saved ?? undefined,
        reconstructed: options.reconstructed,
      }),
      body,
      ...allowedSecret(options),
    }),
  );
  const { delta_id, path } = written;
  const warnings = [
    ...saving.warnings,
    ...(await savedHereWarnings(repository, session, saving.saved)),
    ...(await noThoughtWarnings(repository, trust, session, position.head)),
    ...(await focusWarnings(repository, trust, focus ?? [])),
  ];
  return finish(repository, writer, { delta_id, path, summary, ...saving, warnings }, body, options);
}

/** Bytes that all but the paths take in front of a body, at their longest in practice. */
const FRONT = 4096;

/** A baton that is in the journal, and what it names. */
type Journalled = WrapResult['baton'] & Saving;

const THINK_FIRST = 'git handoff thought TASK --summary TEXT, then the same command again; the session is still open.';

/** From here on nothing is lost; a wrap that is cut off is finished by the same command again. */
async function finish(
  repository: Repository,
  writer: Writer,
  { saved, warnings, ...baton }: Journalled,
  body: string,
  options: WrapOptions,
): Promise<WrapResult> {
  const { session, locks, trust } = writer;
  unmarkCommitted(dirsOf(repository), session.session_id); // where an earlier attempt was committed, that commit was taken back
  const sealed = options.seal
    ? { seal: (await newestSeal(repository, trust, session)) ?? (await appendSeal(writer)) }
    : {};
  await releaseClaims(repository, locks, session);
  await releaseIdentity(locks, session);
  removeTrailers(repository, session);
  const message = `handoff: ${session.identity} wraps\n\n${baton.summary}`;
  const written = [baton.path, ...(sealed.seal ? [sealed.seal.path] : [])];
  const commit = await publishRecords(repository, session, written, message, options);
  warnIfOnNoBranch(repository, commit);
  const { sections } = trust.policy.rules;
  const rebasing = commit !== null && isRebasing(repository) ? [IN_REBASE] : [];
  return {
    ...authorOf(session),
    baton,
    saved,
    ...sealed,
    commit,
    // a short text was never meant to have sections
    warnings: [...rebasing, ...warnings, ...(options.draft ? draftWarnings(body, sections) : [])],
  };
}

const IN_REBASE: Warning = {
  kind: 'in_rebase',
  message:
    'A rebase has stopped in this work tree, and the baton is one of its commits: it is on the branch after git rebase --continue. After git rebase --abort the next verb that writes puts it back.',
};

function draftWarnings(body: string, sections: readonly string[]): Warning[] {
  const blanks = countBlanks(body);
  const message = `Lines of the draft were not filled in, and hand over nothing: ${blanks}.`;
  const unfilled = blanks > 0 ? [{ kind: 'draft_unfilled', message }] : [];
  return [...unfilled, ...missingSections(body, sections).map(sectionWarning)];
}

/** The baton that an earlier attempt left in the journal, and that no commit is known to hold, or whose commit was taken back. */
async function unfinishedBaton(repository: Repository, session: Session, body: string): Promise<Journalled | null> {
  const { session_id, folder } = session;
  const dirs = dirsOf(repository);
  const tip = lastButSeals(dirs, session_id);
  if (!tip || !('kind' in tip) || tip.kind !== 'baton') return null;
  const record = parseAs(tip.bytes, 'baton');
  if (record.body !== body) return null;
  if (isCommitted(dirs, session_id) && (await isStillCommitted(repository, session))) return null;
  const path = `${folder}/${recordName(tip.number, 'baton')}`;
  const { summary = firstLine(body), saved = null } = record.fields;
  return { delta_id: recordId(record.signedBytes, nodeSuite), path, summary, saved, warnings: [] };
}
