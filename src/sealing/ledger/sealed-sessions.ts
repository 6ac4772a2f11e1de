import { foldersOf } from '../../audit/delta/old-session.ts';
import type { LedgerSeal } from '../../audit/ledger/audit.ts';
import { inconsistent } from '../../audit/ledger/ledger.ts';
import { type ListFiles, sealFinder } from '../../audit/ledger/seal-finder.ts';
import type { Entry, Source } from '../../audit/source/source.ts';
import type { HandoffError } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { parseRecordName, parseSessionFolder } from '../../core/paths.ts';
import { nodeSuite } from '../../crypto.ts';

/** The sessions of a tree, and which of their seals a ledger has shown. */
export interface SealedSessions {
  /** Throws where the tree has no such seal. */
  assertThere(seal: LedgerSeal): Promise<void>;
  counts(): { unsealed: number; pending: number };
}

export async function openSealedSessions(source: Source, onProgress: (count: number) => void): Promise<SealedSessions> {
  const all: Session[] = [];
  for (const { owner, entry } of await foldersOf(source, '')) {
    const label = labelOf(owner, parseSessionFolder(entry.name)!.sid8);
    onProgress(all.push({ label, files: inOrder(await source.list(entry)) }));
  }
  // ids may begin alike
  const sessions = groupBy(all, ({ label }) => label);
  const listFiles: ListFiles = async (identity, sid8) =>
    (sessions.get(labelOf(identity, sid8)) ?? []).flatMap(({ files }) => files);
  const findSeal = sealFinder(source, listFiles, nodeSuite);
  const sealed = new Set<string>();
  return {
    async assertThere(seal) {
      const file = await findSeal(seal);
      if (!file) throw notThere(seal);
      sealed.add(file.path);
    },
    counts() {
      return {
        unsealed: all.filter(({ files }) => !sealed.has(files.at(-1)?.path ?? '')).length,
        pending: all.reduce((sum, { files }) => sum + files.filter(isSeal).length, 0) - sealed.size,
      };
    },
  };
}

interface Session {
  /** The beginning of the session's id. Sessions whose ids begin alike have the same label. */
  label: string;
  files: Entry[];
}

function labelOf(owner: string, sid8: string): string {
  return `${owner} ${sid8}`;
}

function inOrder(entries: readonly Entry[]): Entry[] {
  const records = entries.filter(({ name }) => parseRecordName(name) !== null);
  return records.sort((a, b) => seqOf(a) - seqOf(b));
}

function seqOf({ name }: Entry): number {
  return parseRecordName(name)!.seq;
}

function isSeal({ name }: Entry): boolean {
  return parseRecordName(name)!.kind === 'seal';
}

function notThere({ index, record }: LedgerSeal): HandoffError {
  const { session_id, seq } = record.fields;
  return inconsistent(
    `Entry ${index} of the ledger is seal ${seq} of session ${session_id}, which is not in the tree.`,
  );
}
