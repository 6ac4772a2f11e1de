import { inconsistent } from '../../audit/ledger.ts';
import type { LedgerSeal } from '../../audit/ledger-audit.ts';
import { foldersOf } from '../../audit/old-session.ts';
import type { Entry, Source } from '../../audit/source.ts';
import { equalBytes } from '../../core/bytes.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName, parseSessionFolder, recordName } from '../../core/paths.ts';

/** The sessions of a tree, and which of their seals a ledger has shown. */
export interface SealedSessions {
  /** Throws where the tree has no such seal. */
  assertThere(seal: LedgerSeal): Promise<void>;
  counts(): { unsealed: number; pending: number };
}

interface SessionFiles {
  files: Entry[];
  /** Paths of its seals that are in the ledger. */
  sealed: Set<string>;
}

export async function openSealedSessions(source: Source, onProgress: (count: number) => void): Promise<SealedSessions> {
  const all: SessionFiles[] = [];
  // ids may begin alike
  const sessions = new Map<string, SessionFiles[]>();
  for (const { owner, entry } of await foldersOf(source, '')) {
    const label = labelOf(owner, parseSessionFolder(entry.name)!.sid8);
    const session = { files: inOrder(await source.list(entry)), sealed: new Set<string>() };
    sessions.set(label, [...(sessions.get(label) ?? []), session]);
    onProgress(all.push(session));
  }
  return {
    async assertThere({ index, bytes, record }) {
      const { identity, session_id, seq } = record.fields as { identity: string; session_id: string; seq: number };
      for (const { files, sealed } of sessions.get(labelOf(identity, session_id.slice(0, 8))) ?? []) {
        const file = files.find(({ name }) => name === recordName(seq, 'seal'));
        if (file && equalBytes(await source.read(file, MAX_RECORD_BYTES), bytes)) return void sealed.add(file.path);
      }
      throw inconsistent(
        `Entry ${index} of the ledger is seal ${seq} of session ${session_id}, which is not in the tree.`,
      );
    },
    counts() {
      return {
        unsealed: all.filter(({ files, sealed }) => !sealed.has(files.at(-1)?.path ?? '')).length,
        pending: all.reduce((sum, { files, sealed }) => sum + files.filter(isSeal).length - sealed.size, 0),
      };
    },
  };
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
