import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inconsistent, type Ledger } from '../../audit/ledger.ts';
import { fromHex, toHex } from '../../core/bytes.ts';
import type { Checkpoint } from '../../core/checkpoint.ts';
import { HandoffError } from '../../core/error.ts';
import { parseJson } from '../../core/json.ts';
import { verifyConsistency } from '../../core/merkle.ts';
import { consistencyFromTiles } from '../../core/tiles.ts';
import type { Trust } from '../../core/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { ifThere } from '../../journal/if-there.ts';
import { tryRemember } from '../pins.ts';
import { readBranch } from '../position.ts';
import type { Repository } from '../repository.ts';
import { protectedRefs } from '../tracking.ts';

/** The largest checkpoint that this clone has seen, and when it first did. */
export interface LedgerPin {
  origin: string;
  size: number;
  root: string;
  at: string;
}

/**
 * SPEC §11.5: a ledger that is older than what was seen was rolled back; one that does not extend it is another ledger. What holds
 * is remembered.
 */
export async function checkLedgerPin(repository: Repository, ledger: Ledger, trust: Trust): Promise<LedgerPin> {
  const pin = readLedgerPin(repository);
  const found = toPin(repository, ledger.checkpoint);
  const { origin, size } = found;
  if (pin?.origin !== origin) return remember(repository, found);
  if (size < pin.size) {
    if (!isSideBranch(repository, trust)) throw rolledBack(pin, found);
    repository.warn(`The ledger of this branch has ${size} seals; ${pin.size} were seen on the protected one.`);
    return pin;
  }
  const proof = await consistencyFromTiles(pin.size, size, ledger.read, nodeSuite.sha256);
  const [from, to] = [fromHex(pin.root)!, ledger.checkpoint.root];
  if (!verifyConsistency(pin.size, size, proof, from, to, nodeSuite.sha256)) throw forked(pin, found);
  return size === pin.size ? pin : remember(repository, found);
}

/** For whoever has checked what was there before, and made it grow. */
export function rememberGrowth(repository: Repository, checkpoint: Checkpoint): void {
  remember(repository, toPin(repository, checkpoint));
}

function toPin(repository: Repository, { origin, size, root }: Checkpoint): LedgerPin {
  return { origin, size, root: toHex(root), at: repository.now().toISOString() };
}

/** A branch that left before the ledger grew has an older one, and may. */
function isSideBranch(repository: Repository, trust: Trust): boolean {
  const branch = readBranch(repository);
  return branch !== null && !protectedRefs(trust).includes(`refs/heads/${branch}`);
}

/** Whoever keeps us from hearing of anything new is noticed by the time that passes. */
export function assertAge({ size, root, at }: LedgerPin, maxAge: string | undefined, now: Date): void {
  if (maxAge === undefined) return;
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  if (seconds <= parseAge(maxAge)) return;
  throw inconsistent(`The ledger has not grown beyond ${size} seals since ${at}, which is longer than ${maxAge}.`, {
    size,
    root,
    seen_at: at,
  });
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 };

function parseAge(text: string): number {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  if (count && unit) return Number(count) * UNITS[unit]!;
  throw new HandoffError('usage', `Expected a time such as 7d, 12h, 30m or 90s, found ${JSON.stringify(text)}.`, {
    hint: 'git handoff ledger verify --max-age 7d',
  });
}

export function readLedgerPin(repository: Repository): LedgerPin | null {
  const path = pinPath(repository);
  const text = ifThere(() => readFileSync(path, 'utf8'));
  const pin = parseJson<LedgerPin>(text ?? '');
  if (text === null || isPin(pin)) return pin;
  throw new HandoffError('io', `What was seen of the ledger cannot be read in ${path}.`, {
    hint: 'Compare git handoff root --ledger with another clone, then move the file away.',
    data: { path },
  });
}

function isPin(pin: LedgerPin | null): boolean {
  return (
    typeof pin?.origin === 'string' && Number.isSafeInteger(pin.size) && pin.size > 0 && /^[0-9a-f]{64}$/.test(pin.root)
  );
}

function remember(repository: Repository, pin: LedgerPin): LedgerPin {
  if (pin.size > 0) tryRemember(repository, pinPath(repository), pin);
  return pin;
}

function pinPath({ stateDir }: Repository): string {
  return join(stateDir, 'ledger.json');
}

type Head = Pick<LedgerPin, 'size' | 'root'>;

export function rolledBack(seen: Head, found: Head): HandoffError {
  return differs('The ledger went back', seen, found);
}

function forked(seen: Head, found: Head): HandoffError {
  return differs('This is another ledger', seen, found);
}

function differs(what: string, seen: Head, found: Head): HandoffError {
  const words = ({ size, root }: Head) => `${size} seals with root ${root}`;
  return inconsistent(`${what}: this clone has seen ${words(seen)}, and finds ${words(found)}.`, {
    seen: { size: seen.size, root: seen.root },
    found: { size: found.size, root: found.root },
  });
}
