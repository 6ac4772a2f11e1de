import { existsSync, rmSync } from 'node:fs';
import { toFinding } from '../../audit/finding.ts';
import { type Ledger, readLedger } from '../../audit/ledger/ledger.ts';
import { find, type Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { equalBytes, fromHex, toHex } from '../../core/bytes/bytes.ts';
import { type Finding, HandoffError } from '../../core/error.ts';
import { type Checkpoint, ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { consistencyFromTiles } from '../../core/ledger/tiles.ts';
import { CHECKPOINT, LEDGER } from '../../core/paths.ts';
import { merkleRoot, verifyConsistency } from '../../core/seal/merkle.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Oid } from '../../git/objects/store.ts';
import type {
  Directories,
  GitAccess,
  Messages,
  Settings,
  StateDirectory,
  TimeAndHost,
} from '../../repository/parts.ts';
import { readBranch } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { ledgerRef, protectedRefs } from '../../repository/tracking.ts';
import { type LedgerPin, pinPath, readLedgerPin, rememberPin } from './pin-file.ts';
import { readTheirs, wasInVain } from './race.ts';

/** Whose ledger it is, and on which branch it grows. */
export interface LedgerHome {
  repoId: string;
  ref: string;
}

export function homeOf(trust: Trust): LedgerHome {
  return { repoId: trust.repoId, ref: ledgerRef(protectedRefs(trust)) };
}

/**
 * SPEC §11.5: a ledger that is older than what was seen was rolled back; one that does not extend it is another ledger. What holds
 * is remembered, if `remembers` says so: not what a revoked key has signed, nor what no commit has. No ledger is one without seals.
 */
export async function checkLedgerPin(
  repository: Repository,
  ledger: Ledger | null,
  home: LedgerHome,
  remembers: boolean,
): Promise<LedgerPin | null> {
  const found = toPin(ledger, home, repository.now());
  const isSide = isSideBranch(repository, home);
  const settled = await settledPin(repository, home, readLedgerPin(repository));
  // what another branch has is none that others need have
  const accept = (pin: LedgerPin): LedgerPin | null => (remembers && !isSide ? rememberPin(repository, pin) : settled);
  for (let pin = settled; ; pin = pin.own!.before) {
    if (pin?.origin !== found.origin) return accept(found);
    const fault = await faultOf(pin, found, ledger);
    if (fault === null) return accept(newer(pin, found));
    if (found.size < pin.size && isSide) {
      repository.warn(`The ledger of this branch has ${found.size} seals; ${pin.size} were seen on the protected one.`);
      return pin;
    }
    const isHeldBy = (tip: Oid) => ledgerGoesOn(repository, home, tip, pin);
    if (!pin.own || !(await wasInVain(repository, branchOf(home), pin.own.commit, isHeldBy))) throw fault;
  }
}

/** The same for a ledger as it is in the work tree, which somebody who is trusted has signed: what no commit has may yet be dropped. */
export async function checkCurrentPin(
  repository: Repository,
  ledger: Ledger | null,
  home: LedgerHome,
): Promise<LedgerPin | null> {
  return checkLedgerPin(repository, ledger, home, ledger === null || (await isCommitted(repository, ledger)));
}

async function isCommitted({ store }: GitAccess, { bytes }: Ledger): Promise<boolean> {
  const there = `HEAD:${LEDGER}/${CHECKPOINT}`;
  const oid = (await store.has(there)) ? await store.resolve(there) : null;
  return oid !== null && equalBytes(await store.readBlob(oid), bytes);
}

/** Remembers what this clone has appended, and what others had before, in case that nobody gets to see it. */
export async function rememberOwn(
  repository: Repository,
  home: LedgerHome,
  { origin, size, root }: Checkpoint,
  own: { commit: Oid; isOnShared: boolean },
): Promise<void> {
  const pin = await settledPin(repository, home, readLedgerPin(repository));
  if (pin?.origin === origin && pin.size >= size) return;
  const before = pin?.own && !own.isOnShared ? pin.own.before : pin && withoutOwn(pin);
  const at = repository.now().toISOString();
  rememberPin(repository, { origin, size, root: toHex(root), at, own: { commit: own.commit, before } });
}

/** What others have got is no longer this clone's own: should they lose it, that is a rollback. */
export function rememberPushed(repository: StateDirectory & Messages, pushed: { root: string }): void {
  const pin = readLedgerPin(repository);
  if (pin?.own && pin.root === pushed.root) rememberPin(repository, withoutOwn(pin));
}

/** A commit that the remote did not take, and that is dropped: nobody has seen what it appended. */
export function forgetRefused(repository: StateDirectory & Messages, commit: Oid): void {
  const pin = readLedgerPin(repository);
  if (pin?.own?.commit !== commit) return;
  if (pin.own.before) rememberPin(repository, pin.own.before);
  else rmSync(pinPath(repository), { force: true });
}

/** Whatever became of the commit: what the remote's ledger holds is shared. */
async function settledPin(
  repository: GitAccess & Settings & TimeAndHost,
  home: LedgerHome,
  pin: LedgerPin | null,
): Promise<LedgerPin | null> {
  if (!pin?.own) return pin;
  const theirs = await readTheirs(repository, branchOf(home));
  return theirs && (await ledgerGoesOn(repository, home, theirs.oid, pin)) ? withoutOwn(pin) : pin;
}

/** Whether the ledger of a commit goes on from what was seen. */
async function ledgerGoesOn(
  repository: GitAccess & TimeAndHost,
  home: LedgerHome,
  commit: Oid,
  pin: LedgerPin,
): Promise<boolean> {
  try {
    const ledger = await readLedger(await openTree(repository.store, commit));
    return ledger !== null && (await faultOf(pin, toPin(ledger, home, repository.now()), ledger)) === null;
  } catch (error) {
    if (error instanceof HandoffError) return false; // what does not hold there is told when it is looked at
    throw error;
  }
}

function withoutOwn({ origin, size, root, at }: LedgerPin): LedgerPin {
  return { origin, size, root, at };
}

function toPin(ledger: Ledger | null, { repoId }: LedgerHome, now: Date): LedgerPin {
  const { origin, size, root } = ledger?.checkpoint ?? { origin: ledgerOrigin(repoId), ...EMPTY_LOG };
  return { origin, size, root: toHex(root), at: now.toISOString() };
}

export const EMPTY_LOG = { size: 0, root: merkleRoot([], nodeSuite.sha256) };

async function faultOf(pin: LedgerPin, found: LedgerPin, ledger: Ledger | null): Promise<HandoffError | null> {
  if (found.size < pin.size || !ledger) return rolledBack(pin, found);
  const proof = await consistencyFromTiles(pin.size, found.size, ledger.read, nodeSuite.sha256);
  const [before, now] = [fromHex(pin.root)!, ledger.checkpoint.root];
  return verifyConsistency(pin.size, found.size, proof, before, now, nodeSuite.sha256) ? null : forked(pin, found);
}

/** When a size was first seen is kept. */
function newer(pin: LedgerPin, found: LedgerPin): LedgerPin {
  return pin.size === found.size ? pin : found;
}

/** A branch that left before the ledger grew has an older one, and may. */
function isSideBranch(repository: Directories, home: LedgerHome): boolean {
  const branch = readBranch(repository);
  return branch !== null && branch !== branchOf(home);
}

function branchOf({ ref }: LedgerHome): string {
  return ref.replace('refs/heads/', '');
}

/** For `verify`, which has judged the ledger of HEAD by itself: whether it goes on from what was seen. */
export async function ledgerRollback(repository: Repository, source: Source, home: LedgerHome): Promise<Finding[]> {
  const isUnknown = !existsSync(pinPath(repository)) && (await find(source, LEDGER)) === null;
  if (isUnknown) return [];
  return asFindings(async () => checkLedgerPin(repository, await readLedger(source), home, true));
}

/**
 * The same for the ledger of another commit, or of the index. It may be older than what was seen, and then what was seen extends
 * it, as far as this clone can tell. Nothing is remembered.
 */
export async function otherLedger(repository: Repository, source: Source, home: LedgerHome): Promise<Finding[]> {
  return asFindings(async () => {
    const pin = readLedgerPin(repository);
    const ledger = pin && (await readLedger(source));
    if (!ledger || ledger.checkpoint.origin !== pin.origin) return;
    if (ledger.checkpoint.size < pin.size) await assertPrecedes(repository, ledger, pin, home);
    else await checkLedgerPin(repository, ledger, home, false);
  });
}

async function asFindings(check: () => Promise<unknown>): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (error) {
    return [toFinding(error, LEDGER)];
  }
}

/** A clone keeps the head of what it saw and no tiles: HEAD has them, unless it is elsewhere. */
async function assertPrecedes(
  repository: GitAccess & TimeAndHost,
  older: Ledger,
  pin: LedgerPin,
  home: LedgerHome,
): Promise<void> {
  const { size, root } = older.checkpoint;
  const seen = size > 0 ? await readSeen(repository, pin) : null;
  if (!seen) return;
  const proof = await consistencyFromTiles(size, pin.size, seen.read, nodeSuite.sha256);
  if (verifyConsistency(size, pin.size, proof, root, seen.checkpoint.root, nodeSuite.sha256)) return;
  throw forked(pin, toPin(older, home, repository.now()));
}

/** The ledger that is remembered, if HEAD has it. */
async function readSeen({ store }: GitAccess, pin: LedgerPin): Promise<Ledger | null> {
  const ledger = (await store.resolve('HEAD')) && (await readLedger(await openTree(store, 'HEAD')));
  if (!ledger) return null;
  const { origin, size, root } = ledger.checkpoint;
  return origin === pin.origin && size === pin.size && toHex(root) === pin.root ? ledger : null;
}

type Head = Pick<LedgerPin, 'size' | 'root'>;

const WENT_BACK =
  'Fetch, and take the protected branch as it was: git reflog shows where. If you have dropped an append of your own that nobody has seen, move ledger.json in .git/handoff away. Else ask whoever changed the branch, and rely on neither.';

function rolledBack(seen: Head, found: Head): HandoffError {
  return differs('The ledger went back', seen, found);
}

function forked(seen: Head, found: Head): HandoffError {
  return differs('This is another ledger', seen, found);
}

function differs(what: string, seen: Head, found: Head): HandoffError {
  const words = ({ size, root }: Head) => `${size} ${size === 1 ? 'seal' : 'seals'} with root ${root}`;
  const heads = { seen: { size: seen.size, root: seen.root }, found: { size: found.size, root: found.root } };
  return new HandoffError(
    'ledger_inconsistent',
    `${what}: this clone has seen ${words(seen)}, and finds ${words(found)}.`,
    { hint: WENT_BACK, data: heads },
  );
}
