import { asHandoffError, type Finding } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { type ParsedRecord, parseRecord } from '../../core/record/record.ts';
import { recordId, type Suite } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isActive, isRetired, isRevoked, maintainerKeys, stands } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { finding, type Report } from '../finding.ts';
import type { PathUse } from '../tree/path-use.ts';
import type { Turn } from './dependents.ts';
import type { Placed, TreePair } from './differences.ts';
import type { ChangedSession } from './sessions.ts';

/**
 * SPEC §5.5: a retired key signs nothing new. What a maintainer signs gives others power, so it is held to that by the keys that
 * the protected branch calls retired. Its other records are not: a session may outlast a rotation.
 */
export async function auditRetired(
  trees: TreePair,
  changes: readonly Placed[],
  turn: Turn,
  suite: Suite,
  report: Report,
): Promise<void> {
  const retired = printsOf(turn.was, isRetired);
  if (retired.size === 0) return;
  for (const { path, before, now, use } of changes) {
    if (!SIGNED.has(use!)) continue;
    const document = await readIfParsed(() => trees.now.read(now!, MAX_RECORD_BYTES));
    if (!document || isMaintainer(document)) continue; // those are signed by root keys
    const late = lateSigner(document, retired, turn);
    const old = late && before ? await readIfParsed(() => trees.before.read(before, MAX_RECORD_BYTES)) : null;
    const isKnown = old && isSigned(old, turn.was) && idOf(old, suite) === idOf(document, suite);
    if (late && !isKnown) report(signedLate(path, late));
  }
}

function isMaintainer(document: ParsedRecord): boolean {
  return document.kind === 'identity' && document.fields.role === 'maintainer';
}

const SIGNED: ReadonlySet<PathUse> = new Set(['identity', 'project', 'task-definition']);

/** A waiver is a maintainer's act too. */
export function retiredWaivers(sessions: readonly ChangedSession[], was: Trust): Finding[] {
  const retired = printsOf(was, isRetired);
  const added = sessions.flatMap(({ records, added: paths }) => records.filter(({ path }) => paths.has(path)));
  return added
    .filter(({ record }) => record.kind === 'waiver' && retired.has(record.fingerprint))
    .map(({ path, record }) => ({ ...waivedLate(path, record.fingerprint), record: record.id }));
}

/** The retired key that signed it, where no other maintainer's key did. */
function lateSigner(document: ParsedRecord, retired: ReadonlySet<string>, { was, is }: Turn): string | null {
  const lines = document.signatures.map(({ fingerprint }) => fingerprint);
  const before = printsOf(was, () => true);
  const fresh = new Set([
    ...printsOf(was, isActive),
    ...[...printsOf(is, isActive)].filter((print) => !before.has(print)),
  ]);
  const revoked = printsOf(is, isRevoked);
  if (lines.some((print) => fresh.has(print) && !revoked.has(print))) return null;
  return lines.find((print) => retired.has(print)) ?? null;
}

function isSigned(document: ParsedRecord, trust: Trust): boolean {
  const keys = printsOf(trust, stands);
  return document.signatures.some(({ fingerprint }) => keys.has(fingerprint));
}

/** The fingerprints of maintainers' keys. */
function printsOf(trust: Trust, isWanted: typeof stands): Set<string> {
  return new Set(maintainerKeys(trust, isWanted).map(({ fingerprint }) => fingerprint));
}

/** What cannot be read has a finding of its own. */
async function readIfParsed(read: () => Promise<Uint8Array>): Promise<ParsedRecord | null> {
  try {
    return parseRecord(await read());
  } catch (error) {
    asHandoffError(error);
    return null;
  }
}

function idOf({ signedBytes }: ParsedRecord, suite: Suite): string {
  return recordId(signedBytes, suite);
}

function signedLate(path: string, print: string): Finding {
  const hint = `A maintainer signs it with an active key: git handoff identity resign ${quoteWord(path)}`;
  return finding('signer_not_entitled', path, 'a key that was not retired before', `only ${print}`, hint);
}

function waivedLate(path: string, print: string): Finding {
  const hint = 'A maintainer writes it again with an active key: git handoff waiver COMMIT --reason TEXT';
  return finding('signer_not_entitled', path, 'a waiver by a key that was not retired before', print, hint);
}
