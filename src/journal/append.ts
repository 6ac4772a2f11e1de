import { maxBytes } from '../audit/tree/session.ts';
import type { YamlMap } from '../core/bytes/yaml.ts';
import { HandoffError } from '../core/error.ts';
import { recordName } from '../core/paths.ts';
import { attachSignatures, formatRecord } from '../core/record/format.ts';
import type { FieldsOf, RecordKind } from '../core/record/kinds.ts';
import { assertSize, type ParsedRecord, parseRecord, parseSessionRecord } from '../core/record/record.ts';
import { recordId, verifyRecord } from '../core/record/verify.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { guarded } from '../disk/durable.ts';
import { heartbeatAge } from '../disk/moment.ts';
import type { StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { asInput } from './drafts/bad-input.ts';
import { withDraft } from './drafts/kept-draft.ts';
import type { RecordDraft } from './drafts/record-draft.ts';
import { refuseSecrets } from './drafts/secret.ts';
import type { Signer } from './keys/keys.ts';
import type { Locks } from './locks/open-locks.ts';
import { endIfSuperseded } from './locks/superseded.ts';
import { lockFor, type RecordLock } from './locks/task-lock.ts';
import { readHeartbeat, writeHeartbeat } from './sessions/heartbeat.ts';
import { nextClock, tryRememberClock } from './sessions/next-clock.ts';
import { appendRecord, isWrapped, type JournalEntry, readTip } from './sessions/records.ts';
import { heartbeatFile, type Session } from './sessions/registry.ts';
import { dirsOf, ended, momentOf, released } from './sessions/session-state.ts';

export interface Appended<K extends RecordKind> {
  delta_id: string;
  path: string;
  fields: FieldsOf<K>;
}

/** What is needed to write into a session. */
export interface Writer {
  repository: Repository;
  session: Session;
  trust: Trust;
  signer: Signer;
  locks: Locks;
}

/**
 * Adds a record to the session's journal: from then on it is not lost, whatever happens to the work tree. SPEC §8.3.
 * Several writers get a number each: a writer that finds its number taken plans its record again.
 */
export async function append<K extends RecordKind>(writer: Writer, draft: RecordDraft<K>): Promise<Appended<K>> {
  const { repository, session } = writer;
  const dirs = dirsOf(repository);
  refuseSecrets(draft);
  try {
    for (;;) {
      const tip = readTip(dirs, session.session_id);
      await assertHolds(writer, tip, draft);
      const lock = await lockFor(writer, draft);
      beat(repository, session);
      const moment = { clock: nextClock(repository, tip), now: repository.now() };
      const fields = planRecord({ session, repo: writer.trust.repoId, tip, lock }, draft, moment);
      const { bytes, id } = await signRecord(fields, draft.body ?? null, writer);
      if (!appendRecord(dirs, session.session_id, fields.seq, bytes)) continue;
      tryRememberClock(repository, fields.clock);
      noteLife(writer, draft.kind);
      return { delta_id: id, path: `${session.folder}/${recordName(fields.seq, draft.kind)}`, fields };
    }
  } catch (error) {
    throw withDraft(error, writer, draft);
  }
}

/** Refuses, before anything is taken from anybody, what no record could hold. */
export function assertDraft(trust: Trust, identity: string, draft: RecordDraft): void {
  refuseSecrets(draft);
  const session = { session_id: SOME_ID, identity, inherited_from: SOME_ID };
  const chain = { session, repo: trust.repoId, tip: null, lock: null };
  const fields = planRecord(chain, draft, { clock: 1, now: new Date(0) });
  const signature = { identity: '', fingerprint: '', bytes: new Uint8Array(64) };
  const unsigned = asInput(() => formatRecord(fields, draft.body ?? null));
  readOwn(attachSignatures(unsigned, [signature]), trust);
}

/** Checks the size as a verifier will. SPEC §3.1: the policy's limit may be below the protocol's. */
function readOwn(bytes: Uint8Array, trust: Trust): ParsedRecord<RecordKind> {
  return asInput(() => {
    assertSize(bytes.length, maxBytes(trust), 'record');
    return parseSessionRecord(bytes);
  });
}

const SOME_ID = '00000000-0000-4000-8000-000000000000';

export function beat(repository: StateDirectory & TimeAndHost, { session_id }: Session): void {
  const path = heartbeatFile(dirsOf(repository), session_id);
  guarded(path, () => writeHeartbeat(path, momentOf(repository)));
}

/** Where a session of this work tree has just shown that it is alive, and goes on. */
const SHOWN = new WeakSet<object>();

function noteLife({ repository, session }: Writer, kind: RecordKind): void {
  const goesOn = kind !== 'baton' && kind !== 'seal' && session.worktree === repository.worktree;
  if (goesOn) SHOWN.add(repository);
  else SHOWN.delete(repository);
}

/** Whoever has just written a record there need not say once more that it is alive. */
export function hasShownLife(repository: Writer['repository']): boolean {
  return SHOWN.has(repository);
}

/** Seconds: what `stale_after` is where no policy says otherwise. Whoever only looks does not read the policy for this. */
const SILENT = 600;

/** The same for a session that was heard of lately. */
export function beatAgain(repository: StateDirectory & TimeAndHost, session: Session): void {
  const last = readHeartbeat(heartbeatFile(dirsOf(repository), session.session_id));
  if (last && heartbeatAge(last, momentOf(repository)) <= SILENT) beat(repository, session);
}

/** Where a record goes: the session's chain, and the lock that it is written under. */
interface Chain {
  session: Pick<Session, 'session_id' | 'identity' | 'inherited_from'>;
  repo: string;
  tip: JournalEntry | null;
  lock: RecordLock | null;
}

/** SPEC §3.6 and §6.4: the common keys, in their order. */
function planRecord<K extends RecordKind>(
  { session, repo, tip, lock }: Chain,
  draft: RecordDraft<K>,
  { clock, now }: { clock: number; now: Date },
): FieldsOf<K> {
  const { session_id, identity, inherited_from } = session;
  const before = tip && 'bytes' in tip ? parseRecord(tip.bytes) : null;
  const seq = (tip?.number ?? 0) + 1;
  const planned: YamlMap = {
    handoff: 1,
    kind: draft.kind,
    repo,
    session_id,
    identity,
    seq,
    prev: before && recordId(before.signedBytes, nodeSuite),
    clock,
    at: now.toISOString(),
    ...(inherited_from === null ? {} : { inherited_from }),
    ...(lock === null ? {} : { lock: { ...lock } }),
    ...draft.fields,
    ...('fieldsAt' in draft ? draft.fieldsAt(seq) : {}),
    ...(draft.allowSecret ? { secret_allowed: true } : {}),
  };
  return planned as FieldsOf<K>; // the keys of all records and those of its kind, and it is read again before it is written
}

/** SPEC §8.4: the session's own end, then whether anybody has taken it or its identity over. */
async function assertHolds(
  { repository, session, locks }: Writer,
  tip: JournalEntry | null,
  { kind }: RecordDraft,
): Promise<void> {
  if (tip && 'end' in tip) throw released(session, tip.end);
  if ((tip === null) !== isOpening(kind)) throw outOfTurn(session, tip === null);
  if (tip && isWrapped(dirsOf(repository), session.session_id)) {
    if (kind === 'seal') return; // SPEC §6.4: nobody holds a session that is wrapped, and a seal may follow
    throw ended(session);
  }
  const end = await endIfSuperseded(repository, locks, session);
  if (end) throw released(session, end);
}

/** SPEC §6.4: what begins a session is its first record, and nothing else is. */
function isOpening(kind: RecordKind): boolean {
  return kind === 'start' || kind === 'pickup';
}

/** Whoever opens it has its locks, and has yet to write. */
function outOfTurn({ session_id }: Session, isEmpty: boolean): HandoffError {
  const why = isEmpty ? 'has not begun: its first record is not written yet' : 'has begun, and begins only once';
  return new HandoffError('no_session', `Session ${session_id} ${why}.`, {
    hint: 'If start or pickup is still running, try again when it is done; else git handoff start opens another.',
    data: { session_id },
  });
}

/** What was signed is read again and verified before anybody relies on it. */
async function signRecord(fields: FieldsOf<RecordKind>, body: string | null, { signer, trust }: Writer) {
  const unsigned = asInput(() => formatRecord(fields, body));
  const signature = { identity: '', fingerprint: '', bytes: await signer.sign(unsigned) };
  const bytes = attachSignatures(unsigned, [signature]);
  const { id } = await verifyRecord(readOwn(bytes, trust), [signer.publicKey], nodeSuite);
  return { bytes, id };
}
