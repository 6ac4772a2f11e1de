import { foldersOf } from '../audit/delta/old-session.ts';
import type { Source } from '../audit/source/source.ts';
import { HandoffError } from '../core/error.ts';
import { listSome } from '../core/text/list-some.ts';
import type { Warning } from './bundle.ts';

/** Explains why the work of an identity whose key was revoked is not shown: its records are there, and do not count. */
export function distrustWarnings(names: readonly string[]): Warning[] {
  if (names.length === 0) return [];
  const message = `Keys were revoked: records of ${listSome(names, 5)} count for nothing. git handoff verify lists them.`;
  return [{ kind: 'key_revoked', message }];
}

/** A session without a record that counts can hand nothing on. Somebody who names it must not be told that it does not exist. */
export async function refuseDistrusted(source: Source, names: readonly string[], prefix: string): Promise<void> {
  if (names.length === 0 || prefix.length < SID) return;
  const found = (await foldersOf(source, prefix.slice(0, SID))).find(({ owner }) => names.includes(owner));
  if (!found) return;
  throw new HandoffError(
    'key_revoked',
    `Session ${prefix} of ${found.owner} counts for nothing: its key was revoked.`,
    {
      hint: 'Its branch is as it was. Go on from there without its baton: git handoff start',
      data: { session: prefix, identity: found.owner },
    },
  );
}

const SID = 8;
