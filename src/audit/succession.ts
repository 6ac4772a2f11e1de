import { HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { type ParsedRecord, parseRecord } from '../core/record.ts';
import { type Identity, type IdentityKey, type KeyState, readIdentity } from '../core/trust.ts';
import { recordId, type Suite } from '../core/verify.ts';
import type { Step } from './differences.ts';
import type { Entry, Source } from './source.ts';

/**
 * SPEC §10.3: a document follows the one that stood there. The same words under other signatures are the same document. A key
 * never vanishes from an identity, and never becomes more than it was: what it signed must still be judged.
 */
export async function assertFollowsDocument(sources: Step, before: Entry, now: Entry, suite: Suite): Promise<void> {
  const old = parseRecord(await sources.before.read(before, MAX_RECORD_BYTES));
  const next = parseRecord(await sources.now.read(now, MAX_RECORD_BYTES));
  const [oldId, id] = [old, next].map((document) => recordId(document.signedBytes, suite));
  if (oldId === id) return;
  assertNewer(old, next, oldId!);
  if (next.kind !== 'identity') return;
  const [was, is] = [readIdentity(old, suite), readIdentity(next, suite)];
  assertKeepsKeys(was, is);
  await assertCutoffs(sources.now, is, was.keys);
}

/** SPEC §10.3: a cutoff is what the ledger has by then, or less: what is sealed afterwards is not saved by it. It never moves up. */
export async function assertCutoffs(
  source: Source,
  { keys }: Identity,
  old: readonly IdentityKey[] = [],
): Promise<void> {
  const cut = keys.filter(({ cutoff = 0 }) => cutoff > 0);
  const sealed = cut.length === 0 ? 0 : await ledgerSize(source);
  for (const { fingerprint, cutoff = 0 } of cut) {
    const before = old.find((key) => key.fingerprint === fingerprint && key.state === 'revoked');
    const most = before ? (before.cutoff ?? 0) : sealed;
    if (cutoff > most) throw wentBack(`a cutoff of at most ${most} for ${fingerprint}`, `${cutoff}`);
  }
}

async function ledgerSize(source: Source): Promise<number> {
  const { readLedger } = await import('./ledger.ts');
  return (await readLedger(source))?.checkpoint.size ?? 0;
}

function assertNewer(old: ParsedRecord, next: ParsedRecord, oldId: string): void {
  const [was, is] = [old.fields.version as number, next.fields.version as number];
  if (is <= was) throw wentBack(`a version above ${was}`, `version ${is}`);
  if (is === was + 1 && next.fields.prev !== oldId) throw wentBack(`prev ${oldId}`, `prev ${next.fields.prev}`);
}

const RANK: Readonly<Record<KeyState, number>> = { active: 0, retired: 1, revoked: 2 };

function assertKeepsKeys(old: Identity, next: Identity): void {
  for (const { fingerprint, state } of old.keys) {
    const now = next.keys.find((key) => key.fingerprint === fingerprint);
    if (!now) throw wentBack(`the key ${fingerprint}, ${state}`, 'no such key');
    if (RANK[now.state] < RANK[state]) throw wentBack(`the key ${fingerprint} ${state}`, now.state);
  }
}

function wentBack(expected: string, found: string): HandoffError {
  return new HandoffError('policy_rollback', `It went back: expected ${expected}, found ${found}.`, {
    hint: 'Documents only ever go forward: make the change anew on top of the newest version.',
    data: { expected, found },
  });
}
