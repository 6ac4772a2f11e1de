import type { FieldsOf } from '../../core/record/kinds.ts';
import { parseAs } from '../../core/record/record.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { type JournalEntry, readEntry, recordNumbers } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { StateDirectory } from '../../repository/parts.ts';

/** What an agent wrote into its own session, to remember; in one line each, or one could pose as several. */
export interface OwnRecord {
  kind: 'checkpoint' | 'note' | 'decision' | 'wip' | 'claim';
  at: string;
  text: string;
}

const MOST_OF_A_KIND = 5;

/** The last checkpoint, the last notes, decisions and work in progress, and the tasks it has; each list with the newest first. */
export function ownRecords(repository: StateDirectory, session: Session): OwnRecord[] {
  const all = readRecords(repository, session).reverse();
  const of = (kind: OwnRecord['kind'], most = MOST_OF_A_KIND) =>
    all.filter((each) => each.kind === kind).slice(0, most);
  const claims = readClaims(dirsOf(repository), session.session_id);
  return [
    ...of('checkpoint', 1),
    ...claims.map(({ task, at }): OwnRecord => ({ kind: 'claim', at, text: task })),
    ...of('note'),
    ...of('decision'),
    ...of('wip'),
  ];
}

/** In order. Enough of the journal for what is told: a session may have thousands. */
export function readRecords(repository: StateDirectory, { session_id }: Session): OwnRecord[] {
  const dirs = dirsOf(repository);
  const numbers = recordNumbers(dirs, session_id).slice(-MOST_READ);
  const found = numbers.map((number) => toOwn(readEntry(dirs, session_id, number)));
  return found.filter((record) => record !== null);
}

const MOST_READ = 300;

function toOwn(entry: JournalEntry): OwnRecord | null {
  if ('end' in entry) return null;
  const { kind, bytes } = entry;
  if (kind === 'checkpoint')
    return told(kind, parseAs(bytes, kind), ({ text, branch }) => text ?? `on ${branch ?? 'no branch'}`);
  if (kind === 'note') return told(kind, parseAs(bytes, kind), ({ text }) => text);
  if (kind === 'decision') return told(kind, parseAs(bytes, kind), ({ title }) => title);
  if (kind === 'wip')
    return told(kind, parseAs(bytes, kind), ({ key, state, text }) => `${key}, ${state}: ${text ?? ''}`);
  return null;
}

type Told = Exclude<OwnRecord['kind'], 'claim'>;

function told<K extends Told>(
  kind: K,
  { fields }: { fields: FieldsOf<K> & { at: string } },
  say: (fields: FieldsOf<K>) => string,
): OwnRecord {
  return { kind, at: fields.at, text: say(fields).trim().replaceAll(/\n+/g, '; ') };
}
