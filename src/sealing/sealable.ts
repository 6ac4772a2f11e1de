import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '../core/bytes/bytes.ts';
import { HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { chainFaults, type Link, toLink } from '../core/record/chain.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { quoteWord } from '../core/text/quote.ts';
import { journalled } from '../custody/known-sessions.ts';
import type { FileToWrite } from '../disk/tree-files.ts';
import type { Writer } from '../journal/append.ts';
import { isHere } from '../journal/commits/recover-records.ts';
import { journalledFiles } from '../journal/commits/restore.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { assertNotReleased, dirsOf, withLiveness } from '../journal/sessions/session-state.ts';
import type { GitAccess } from '../repository/parts.ts';
import { requireWorkTree } from '../repository/repository.ts';

/** SPEC §11.1: what is sealed holds, and the last word about the code was said before. */
export async function assertSealable(writer: Writer): Promise<void> {
  const { repository, trust, session } = writer;
  assertNotReleased(withLiveness(repository, trust, session));
  await assertIntact(writer);
}

/** The same of one that is sealed: the seal says nothing of what was done to its files since. */
export async function assertIntact(writer: Pick<Writer, 'repository' | 'trust' | 'session'>): Promise<void> {
  const { repository, trust, session } = writer;
  const records = await journalled(repository, trust, session);
  assertChain(records);
  if (isHere(repository, session)) {
    const written = journalledFiles(dirsOf(repository), session);
    assertInWorkTree(requireWorkTree(repository), written);
    await assertInHead(repository, session, written);
  }
  const { assertWrittenBack } = await import('./seal-writeback.ts'); // a wrap can seal, and most do not
  await assertWrittenBack(writer, records);
}

function assertChain(records: readonly PlacedRecord[]): void {
  const links = records.map(({ record }) => toLink(record, record.id, record.fingerprint));
  const [fault] = chainFaults(links, distrustedNumbers(links));
  const path = records.find(({ record }) => record.fields.seq === fault?.seq)?.path ?? '';
  if (fault) throw chainBroken(path, fault.expected, fault.found, LOOK);
}

/** What a key signed that was revoked since is left out of the journal's records, and is no gap. */
function distrustedNumbers(links: readonly Link[]): Set<number> {
  const numbersHere = new Set(links.map(({ seq }) => seq));
  const numbers = Array.from({ length: links.at(-1)?.seq ?? 0 }, (_, at) => at + 1);
  return new Set(numbers.filter((seq) => !numbersHere.has(seq)));
}

/** A record that it lacks is put back; one that it has otherwise is not ours to overwrite. */
function assertInWorkTree(topLevel: string, written: readonly FileToWrite[]): void {
  for (const { path, bytes } of written) {
    const file = join(topLevel, path);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats && !(stats.isFile() && equalBytes(readFileSync(file), bytes)))
      throw otherBytes(path, 'others', `Move ${path} away: seal puts the signed one back.`);
  }
}

/** The commit of a seal only adds: what HEAD has otherwise would stay so, under a root that is not its own. */
async function assertInHead({ store }: GitAccess, { folder }: Session, written: readonly FileToWrite[]): Promise<void> {
  const signed = new Map(written.map(({ path, bytes }) => [path, bytes]));
  const there = `HEAD:${folder}`;
  const tree = (await store.has(there)) ? await store.readTree((await store.resolve(there))!) : null;
  const entries = tree?.entries ?? [];
  const committed = entries.filter(({ name }) => signed.has(`${folder}/${name}`));
  const contents = await store.readBlobs(
    committed.map(({ oid }) => oid),
    MAX_RECORD_BYTES,
  );
  for (const [at, { name }] of committed.entries()) {
    const path = `${folder}/${name}`;
    const content = contents[at]!;
    if (content instanceof HandoffError || !equalBytes(content, signed.get(path)!))
      throw otherBytes(path, 'others in HEAD', `git commit -- ${quoteWord(path)} takes the signed ones.`);
  }
}

const LOOK = 'git handoff audit verify shows all of it.';

function otherBytes(path: string, found: string, hint: string): HandoffError {
  return chainBroken(path, 'the bytes that were signed', found, `${hint} ${LOOK}`);
}

function chainBroken(path: string, expected: string, found: string, hint: string): HandoffError {
  const message = `${path}: expected ${expected}, found ${found}. What is broken is not sealed.`;
  return new HandoffError('chain_broken', message, { hint, data: { path, expected, found } });
}
