import { HandoffError } from '../../core/error.ts';
import type { DocumentHead } from '../../core/generated/types.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import type { DocumentKind } from '../../core/record/kinds.ts';
import { hasKind, isDocument, type ParsedRecord, parseRecord } from '../../core/record/record.ts';
import { recordId, type Suite } from '../../core/record/verify.ts';
import { type IdentityKey, isBetter, isRevoked } from '../../core/trust/key-standing.ts';
import { type Identity, readIdentity } from '../../core/trust/trust.ts';
import type { TreePair } from '../delta/differences.ts';
import type { Entry, Source } from '../source/source.ts';
import { parseDocument } from './trust.ts';

/** What the commits of a change have at a path, each once. `count` is how many versions are looked for. */
export type VersionReader = (path: string, count: number) => AsyncIterable<Uint8Array>;

/** For a change that is judged as one step: its commits have no versions to look at. */
export const noVersions: VersionReader = async function* () {};

type Document = ParsedRecord<DocumentKind>;

/** A document that arrives, and the one that stood there: both of the kind that their path demands. */
export interface Succession {
  old: Document | null;
  next: Document;
  /** The same words, whoever signed them. */
  isSame: boolean;
}

export async function readSuccession(
  trees: TreePair,
  before: Entry | null,
  now: Entry,
  kind: DocumentKind,
  suite: Suite,
): Promise<Succession> {
  const there = before && parseRecord(await trees.before.read(before, MAX_RECORD_BYTES));
  const next = parseDocument(await trees.now.read(now, MAX_RECORD_BYTES), kind);
  const old = there && hasKind(there, kind) ? there : null; // a file of another kind is no version of this one
  return { old, next, isSame: old !== null && idOf(old, suite) === idOf(next, suite) };
}

/**
 * SPEC §10.3.2: a document follows the one that stood there, one version after the other. A key never vanishes from an identity,
 * and never becomes more than it was: what it signed must still be judged. `sealing` is the tree whose ledger its cutoffs count.
 */
export async function assertFollowsDocument(
  succession: Succession,
  path: string,
  sealing: Source,
  readVersions: VersionReader,
  suite: Suite,
): Promise<void> {
  const { old, next, isSame } = succession;
  if (isSame) return;
  await assertOneByOne(old, next, (count) => readVersions(path, count), suite);
  const identities = identitiesIn(succession, suite);
  if (!identities) return;
  const { was, is } = identities;
  if (was) assertKeepsKeys(was, is);
  await assertCutoffs(sealing, is, was?.keys);
}

/** What an identity was, and what it becomes; null where the documents are no identities. */
export function identitiesIn({ old, next }: Succession, suite: Suite): { was: Identity | null; is: Identity } | null {
  if (next.kind !== 'identity') return null;
  return { was: old?.kind === 'identity' ? readIdentity(old, suite) : null, is: readIdentity(next, suite) };
}

/** SPEC §10.3.2: a cutoff is what the ledger has by then, or less: what is sealed afterwards is not saved by it. It never moves up. */
async function assertCutoffs(source: Source, { keys }: Identity, old: readonly IdentityKey[] = []): Promise<void> {
  const cut = keys.filter(({ cutoff = 0 }) => cutoff > 0);
  const sealed = cut.length === 0 ? 0 : await ledgerSize(source);
  for (const { fingerprint, cutoff = 0 } of cut) {
    const before = old.find((key) => key.fingerprint === fingerprint && isRevoked(key));
    const most = before ? (before.cutoff ?? 0) : sealed;
    if (cutoff > most) throw wentBack(`a cutoff of at most ${most} for ${fingerprint}`, `${cutoff}`);
  }
}

async function ledgerSize(source: Source): Promise<number> {
  const { readLedger } = await import('../ledger/ledger.ts');
  return (await readLedger(source))?.checkpoint.size ?? 0;
}

/** A squash drops the versions in between. Of a document that was not there, no version is lost by that. */
const FIRST_VERSIONS = 16;

/**
 * SPEC §10.3.2: exactly one more, bound to the one before by its id. Where a change brings several versions at once, its commits
 * have those in between. A version far ahead would leave no number for the next: a key that could never be revoked.
 */
async function assertOneByOne(
  old: Document | null,
  next: Document,
  read: (count: number) => AsyncIterable<Uint8Array>,
  suite: Suite,
): Promise<void> {
  const was = old?.fields.version ?? 0;
  const { version: found } = next.fields;
  const missing = found - was - 1;
  if (missing < 0) throw wentBack(`version ${was + 1}`, `version ${found}`);
  if (old === null && missing > 0 && found <= FIRST_VERSIONS) return;
  const between = missing === 0 ? new Map<string, Link>() : await readLinks(read(missing), suite);
  let { prev } = next.fields;
  for (let version = found - 1; version > was; version--) {
    const link = between.get(String(prev));
    if (link?.version !== version) throw skipped(was + 1, found, version);
    prev = link.prev;
  }
  const expected = old && idOf(old, suite);
  if (prev !== expected) throw wentBack(`prev ${expected}`, `prev ${prev}`);
}

type Link = Pick<DocumentHead, 'version' | 'prev'>;

/** By the id of the document. Versions in between that are no valid documents do not count. */
async function readLinks(files: AsyncIterable<Uint8Array>, suite: Suite): Promise<Map<string, Link>> {
  const links = new Map<string, Link>();
  for await (const bytes of files) {
    const document = tryParse(bytes);
    if (document) links.set(idOf(document, suite), document.fields);
  }
  return links;
}

function tryParse(bytes: Uint8Array): Document | null {
  try {
    const record = parseRecord(bytes);
    return isDocument(record) ? record : null;
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}

function idOf({ signedBytes }: ParsedRecord, suite: Suite): string {
  return recordId(signedBytes, suite);
}

function assertKeepsKeys(old: Identity, next: Identity): void {
  for (const key of old.keys) {
    const { fingerprint, state } = key;
    const now = next.keys.find((each) => each.fingerprint === fingerprint);
    if (!now) throw wentBack(`the key ${fingerprint}, ${state}`, 'no such key');
    if (isBetter(now, key)) throw wentBack(`the key ${fingerprint} ${state}`, now.state);
  }
}

const ANEW = 'make the change anew on top of the newest version.';

function wentBack(expected: string, found: string): HandoffError {
  return new HandoffError('policy_rollback', `It went back: expected ${expected}, found ${found}.`, {
    hint: `Documents only ever go forward, one version at a time: ${ANEW}`,
    data: { expected, found },
  });
}

function skipped(first: number, found: number, missing: number): HandoffError {
  const data = { expected: `version ${first}`, found: `version ${found}` };
  const message = `It skips versions: expected ${data.expected}, found ${data.found}, and no commit of the change has version ${missing} that leads to it.`;
  return new HandoffError('policy_rollback', message, {
    hint: `Bring the commits that made the versions in between, which a squash leaves out, or ${ANEW}`,
    data,
  });
}
