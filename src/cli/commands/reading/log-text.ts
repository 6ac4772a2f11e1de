import type { LogEntry } from '../../../verbs/reading/log.ts';
import type { Paint } from '../../terminal.ts';
import { clip, headedTable, lines, roomFor, shortId } from '../../text/layout.ts';

const HEADS = ['RECORD', 'KIND', 'IDENTITY', 'SEQ', 'WRITTEN', 'SUMMARY'];
const SUMMARY = 5;

/** One line a record, below the names of the columns. */
export function formatLog({ records }: { records: LogEntry[] }, paint: Paint): string {
  if (records.length === 0) return 'No records here. git handoff start opens a session and writes its first.\n';
  const rows = records.map((entry) => [
    shortId(entry.id),
    entry.kind,
    entry.identity,
    String(entry.seq),
    entry.at.slice(0, 16).replace('T', ' '),
    entry.valid ? entry.summary : invalid(entry),
  ]);
  const rest = roomFor(SUMMARY, [HEADS, ...rows], paint.columns);
  const cut = rows.map((row) => row.with(SUMMARY, clip(row[SUMMARY]!, rest)));
  return lines(
    headedTable(HEADS, cut, paint, (cell, column, row) => {
      if (column === 0) return paint('yellow', cell);
      return column === SUMMARY && !records[row]!.valid ? paint('red', cell) : cell;
    }),
  );
}

function invalid({ reason }: LogEntry): string {
  if (reason === 'key_revoked') return '✗ distrusted: its key was revoked';
  return '✗ does not hold; see git handoff verify';
}
