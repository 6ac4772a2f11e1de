import { HandoffError } from '../../core/error.ts';
import { assertIdentityName } from '../../core/names.ts';
import { openWip } from '../../core/session/history-queries.ts';
import { assertTask } from '../../core/task/name.ts';
import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { append, type Writer } from '../../journal/append.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import type { RecordDraft, SecretOptions } from '../../journal/drafts/record-draft.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { requireIdentity } from '../../journal/keys/signers.ts';
import { type LockOptions, openLocks } from '../../journal/locks/open-locks.ts';
import { positionFields, readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { type Needs, requireTrust } from '../../repository/trusted-now.ts';

/** Flags of every verb that adds a record to a session. They write the file; `--commit` commits, `--stage` stages. */
export interface RecordOptions extends SessionChoice, PublishOptions, LockOptions, SecretOptions {}

/** The identity that a verb wrote as. */
export interface Author {
  identity: string;
  session_id: string;
}

export function authorOf({ identity, session_id }: Author): Author {
  return { identity, session_id };
}

export interface RecordResult extends Author {
  delta_id: string;
  path: string;
}

export async function note(repository: Repository, options: RecordOptions & { text: string }): Promise<RecordResult> {
  assertText(options.text, 'note');
  return record(repository, options, { kind: 'note', fields: { text: options.text } });
}

export async function checkpoint(
  repository: Repository,
  options: RecordOptions & { text?: string } = {},
): Promise<RecordResult> {
  const position = positionFields(await readPosition(repository));
  const text = options.text ? { text: options.text } : {};
  return record(repository, options, { kind: 'checkpoint', fields: { ...text, ...position } });
}

export interface DecideOptions extends RecordOptions {
  title: string;
  status?: 'accepted' | 'proposed' | 'superseded';
  supersedes?: string;
  text: string;
}

export async function decide(repository: Repository, options: DecideOptions): Promise<RecordResult> {
  const { title, status = 'accepted', supersedes, text } = options;
  assertText(title, 'title');
  assertText(text, 'decision');
  const fields = { title, status, ...(supersedes ? { supersedes } : {}) };
  return record(repository, options, { kind: 'decision', fields, body: text.endsWith('\n') ? text : `${text}\n` });
}

export async function wipOpen(
  repository: Repository,
  options: RecordOptions & { key: string; text: string },
): Promise<RecordResult> {
  assertTask(options.key);
  assertText(options.text, 'work in progress');
  return record(repository, options, { kind: 'wip', fields: { key: options.key, state: 'open', text: options.text } });
}

export async function wipClose(
  repository: Repository,
  options: RecordOptions & { key: string; text?: string },
): Promise<RecordResult> {
  assertTask(options.key);
  await assertOpenWip(repository, options.key);
  const text = options.text ? { text: options.text } : {};
  return record(repository, options, { kind: 'wip', fields: { key: options.key, state: 'closed', ...text } });
}

async function assertOpenWip(repository: Repository, key: string): Promise<void> {
  const { readKnownSessions } = await import('../../custody/known-sessions.ts'); // which no other record needs
  const { history } = await readKnownSessions(repository, await requireTrust(repository));
  if (openWip(history).some((wip) => wip.key === key)) return;
  throw new HandoffError('unknown_wip', `No work in progress called ${JSON.stringify(key)} is open.`, {
    hint: 'git handoff wip list shows what is.',
    data: { key },
  });
}

export interface SignalOptions extends RecordOptions {
  name: string;
  type?: string;
  text: string;
}

export async function signalSend(repository: Repository, options: SignalOptions): Promise<RecordResult> {
  assertIdentityName(options.name);
  assertText(options.text, 'signal');
  const type = options.type ? { type: options.type } : {};
  return record(repository, options, { kind: 'signal', fields: { to: options.name, ...type, text: options.text } });
}

/** One record, journalled and in the work tree. */
async function record(repository: Repository, options: RecordOptions, draft: RecordDraft): Promise<RecordResult> {
  enterWorkTree(repository);
  const addressee = draft.kind === 'signal' ? draft.fields.to : null;
  const writer = await openWriter(repository, options, addressee, options.commit ? 'objects' : 'files');
  return writeRecord(writer, draft, `handoff: ${writer.session.identity}, ${draft.kind}`, options);
}

/** The same by a writer who is open already; `message` is for `--commit`. */
export async function writeRecord(
  writer: Writer,
  draft: RecordDraft,
  message: string,
  options: RecordOptions,
): Promise<RecordResult> {
  const { delta_id, path } = await append(writer, { ...draft, ...allowedSecret(options) });
  await publishRecords(writer.repository, writer.session, [path], options.commit ? message : null, options);
  return { ...authorOf(writer.session), delta_id, path };
}

export function allowedSecret({ allowSecret }: SecretOptions): SecretOptions {
  return allowSecret ? { allowSecret } : {};
}

/** `addressee`: who must be known for the record to make sense. */
export async function openWriter(
  repository: Repository,
  options: RecordOptions,
  addressee: string | null,
  needs: Needs = 'objects',
): Promise<Writer> {
  const trust = await requireTrust(repository, needs);
  const { session } = await requireSession(repository, trust, options);
  if (addressee !== null) requireIdentity(trust, addressee);
  const signer = await requireSigner(repository, trust, session.identity);
  return { repository, session, trust, signer, locks: await openLocks(repository, trust, options) };
}

function assertText(text: string, what: string): void {
  if (text.trim() !== '') return;
  throw new HandoffError('usage', `A ${what} needs words, and these are none.`, {
    hint: 'Give them as the last argument, with --file FILE, or with - from standard input.',
  });
}
