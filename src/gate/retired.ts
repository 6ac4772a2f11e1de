import { ledgerVerifiers, readLedger } from '../audit/ledger/ledger.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { labelOf, type Note, type NoteSignature } from '../core/ledger/note.ts';
import { LEDGER } from '../core/paths.ts';
import { isRetired } from '../core/trust/key-standing.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';

/** A commit of the protected branch, and what it comes from. */
export interface HistoryStep {
  /** Its first parent. */
  from: Oid;
  to: Oid;
  /** Its other parents, as far as base has them behind it. */
  merged: readonly Oid[];
}

/**
 * SPEC §11.4: the ledger grows on one branch only, so whoever signs it knows which keys base has retired. What such a key had
 * signed stands, and may come from base by a merge.
 */
export async function judgeRetired(
  repository: GitAccess,
  trust: Trust,
  steps: readonly HistoryStep[],
): Promise<Finding[]> {
  const retired = new Set(ledgerVerifiers(trust, nodeSuite, isRetired).map(labelOf));
  if (retired.size === 0) return [];
  const findings: Finding[] = [];
  for (const { from, to, merged } of steps) {
    const [now, ...seen] = await Promise.all([to, from, ...merged].map((commit) => readNote(repository, commit)));
    const late = now && lateSignature(now, seen, retired);
    if (late) findings.push(signedLate(late, to));
  }
  return findings;
}

/** Null where there is none that can be read, which is told of where the ledger is judged. */
async function readNote({ store }: GitAccess, commit: Oid): Promise<Note | null> {
  try {
    return (await readLedger(await openTree(store, commit)))?.note ?? null;
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'ledger_inconsistent') return null;
    throw error;
  }
}

/** One of a retired key that was not there before under the same text. */
function lateSignature(
  { text, signatures }: Note,
  seen: readonly (Note | null)[],
  retired: ReadonlySet<string>,
): NoteSignature | undefined {
  const before = seen.flatMap((note) => (note?.text === text ? note.signatures.map(labelOf) : []));
  return signatures.find((signature) => retired.has(labelOf(signature)) && !before.includes(labelOf(signature)));
}

function signedLate(signature: NoteSignature, commit: Oid): Finding {
  return {
    code: 'ledger_rewritten',
    severity: 'error',
    path: LEDGER,
    commit,
    message: `The key ${labelOf(signature)}, which signed the ledger in commit ${commit.slice(0, 12)}, had been retired: it signs nothing new.`,
    hint: 'Leave that commit out, and let a maintainer append with a key that is active, on the protected branch: git handoff ledger append',
  };
}
