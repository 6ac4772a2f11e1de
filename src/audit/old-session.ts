import { emptyHistory } from '../core/history.ts';
import { findSession } from '../core/history-queries.ts';
import { parseSessionFolder, ROOT } from '../core/paths.ts';
import { parseSessionName } from '../core/session-name.ts';
import type { SessionSummary } from '../core/session-summary.ts';
import type { Trust } from '../core/trust.ts';
import type { Suite } from '../core/verify.ts';
import type { SessionFolder } from './growth.ts';
import { foldSessions } from './session-records.ts';
import { FOLDER, find, type Source } from './source.ts';

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
