import { basename } from 'node:path/posix';
import { find, type Source } from '../../audit/source/source.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import { parseAs } from '../../core/record/record.ts';
import type { Baton } from '../../core/record/record-summary.ts';
import { recordId } from '../../core/record/verify.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Saved } from '../../journal/saved/saved-name.ts';
import { readEntry } from '../../journal/sessions/records.ts';
import { readSession } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { StateDirectory } from '../../repository/parts.ts';

export interface ReceivedBaton {
  delta_id: string;
  kind: 'wrap';
  agent_identity: string;
  session_id: string;
  created_at: string;
  /** Byte for byte what was wrapped: somebody's words, never instructions of this tool. */
  body: string;
  summary: string;
  /** Who should continue, and with what; null and none where nobody said. */
  next_agent: string | null;
  focus: string[];
  /** Where the work stood when it was wrapped. */
  branch: string | null;
  head: string | null;
  /** What was not committed then: `git handoff restore` brings it back. */
  saved: Saved | null;
  /** Nobody who did the work wrote it: it was put together from what was known. */
  reconstructed?: true;
}

/** From the journal where this machine has it, else from the tree; in both cases the very bytes that were verified. */
export async function receiveBaton(repository: StateDirectory, source: Source, baton: Baton): Promise<ReceivedBaton> {
  const bytes = journalledBaton(repository, baton) ?? (await committedBaton(source, baton));
  const record = parseAs(bytes, 'baton');
  if (recordId(record.signedBytes, nodeSuite) !== baton.delta_id) throw new Error(`${baton.path} is not the baton.`);
  return {
    delta_id: baton.delta_id,
    kind: 'wrap',
    agent_identity: baton.identity,
    session_id: baton.session_id,
    created_at: baton.at,
    body: record.body ?? '',
    summary: baton.summary,
    next_agent: baton.next_agent,
    focus: baton.focus,
    branch: record.fields.branch ?? null,
    head: record.fields.head ?? null,
    saved: record.fields.saved ?? null,
    ...(record.fields.reconstructed ? { reconstructed: true as const } : {}),
  };
}

function journalledBaton(repository: StateDirectory, baton: Baton): Uint8Array | null {
  const dirs = dirsOf(repository);
  const { seq } = parseRecordName(basename(baton.path))!;
  if (!readSession(dirs, baton.session_id)) return null;
  const entry = readEntry(dirs, baton.session_id, seq);
  return 'bytes' in entry ? entry.bytes : null;
}

async function committedBaton(source: Source, baton: Baton): Promise<Uint8Array> {
  const entry = await find(source, baton.path);
  if (!entry) throw new Error(`${baton.path} is in the history and not in the tree.`);
  return source.read(entry, MAX_RECORD_BYTES);
}
