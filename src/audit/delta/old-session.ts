import { parseSessionFolder, ROOT } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { emptyHistory } from '../../core/session/history.ts';
import { findSession } from '../../core/session/history-queries.ts';
import { parseSessionName } from '../../core/session/session-name.ts';
import type { SessionSummary } from '../../core/session/session-summary.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { SessionFolder } from '../history/growth.ts';
import { FOLDER, find, type Source } from '../source/source.ts';
import { foldSessions } from '../tree/session-records.ts';

const SID = 8;

/** A session that the history, which keeps the newest, no longer knows: found by the name of its folder, and audited. */
export async function readOldSession(
  source: Source,
  trust: Trust,
  suite: Suite,
  prefix: string,
): Promise<SessionSummary | null> {
  const name = parseSessionName(prefix);
  if (name.prefix.length < SID) return null;
  const history = emptyHistory();
  const folders = await foldersOf(source, name.prefix.slice(0, SID));
  await foldSessions(history, folders, { source, trust, suite, onSession() {} }, () => {});
  return findSession(history, prefix);
}

/** The folders of sessions whose ids begin so. */
export async function foldersOf(source: Source, sid: string): Promise<SessionFolder[]> {
  const sessions = await find(source, `${ROOT}/sessions`);
  const owners = sessions?.mode === FOLDER ? await source.list(sessions) : [];
  const found: SessionFolder[] = [];
  for (const owner of owners.filter(({ mode }) => mode === FOLDER)) {
    const entries = await source.list(owner);
    const named = entries.filter(({ name, mode }) => mode === FOLDER && parseSessionFolder(name)?.sid8.startsWith(sid));
    for (const entry of named) found.push({ owner: owner.name, entry, isNew: true });
  }
  return found;
}
