import { join } from 'node:path';
import { checkedOut } from '../../audit/checked-out.ts';
import { type Ledger, noTiles, readLedger } from '../../audit/ledger.ts';
import { find, type Source } from '../../audit/source.ts';
import { openTree } from '../../audit/tree-source.ts';
import { toHex } from '../../core/bytes.ts';
import { type Checkpoint, ledgerOrigin } from '../../core/checkpoint.ts';
import { HandoffError } from '../../core/error.ts';
import { later } from '../../core/later.ts';
import { type LogGrowth, planGrowth } from '../../core/log-growth.ts';
import { CHECKPOINT, LEDGER, ROOT } from '../../core/paths.ts';
import { edgeOf, type ReadTile, tilePath } from '../../core/tiles.ts';
import type { Trust } from '../../core/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { clearLeft } from '../../git/own-file.ts';
import { whileAlone } from '../../journal/alone.ts';
import { guarded } from '../../journal/durable.ts';
import type { NamedSigner } from '../../journal/sign.ts';
import { requireTrust } from '../current.ts';
import { readBranch } from '../position.ts';
import type { PublishOptions } from '../publish.ts';
import { type Repository, requireWorkTree } from '../repository.ts';
import { type Actor, ledgerSigner } from '../signing.ts';
import { protectedRefs, remoteNames, remoteOf } from '../tracking.ts';
import {
  type Arrival,
  type AskedCandidates,
  arrivedSeals,
  askCandidates,
  type Candidates,
  SESSIONS_LINE,
} from './arrivals.ts';
import { checkLedgerPin, EMPTY_LOG, homeOf, rememberOwn } from './pin.ts';
import { assertRemote, catchUp, pushLedger, readTips, type Tips } from './race.ts';
import { assertSeenBefore, isSignedStill, signCheckpoint } from './signature.ts';
import { writeLedger } from './write.ts';

export interface LedgerAppendOptions extends Actor, PublishOptions {
  /** Push it; where somebody else was faster, begin again on what they pushed. */
  push?: boolean;
  /** The root of a ledger whose signer was revoked, and that a person has compared: it is signed anew. */
  resign?: string;
}

export interface LedgerAppendResult {
  size: number;
  root: string;
  appended: number;
  origin: string;
  commit: string | null;
  /** Whether the remote was given something; false without `push`. */
  pushed: boolean;
  /** With `push`: what is pushed, and where to. A remote that is an address has no name. */
  pushed_to: { branch: string; remote: string | null } | null;
}

type Appended = Omit<LedgerAppendResult, 'pushed' | 'pushed_to'>;

/** How often somebody else may be faster before it is worth telling. */
const ATTEMPTS = 20;

/** Adds the seals that have arrived on the protected branch. SPEC §11.4 */
export async function ledgerAppend(
  repository: Repository,
  options: LedgerAppendOptions = {},
): Promise<LedgerAppendResult> {
  requireWorkTree(repository);
  if (options.push && (options.commit === false || options.stage === false)) throw nothingToPush();
  later(repository.config()); // git gets ready meanwhile
  return whileAlone(join(repository.stateDir, 'appending'), repository, () => {
    // one that was killed right after its commit has left git's locks, and there may be nothing to write that would find them
    guarded(repository.dirs.gitDir, () => clearLeft(repository.dirs, repository.host));
    return appendUntilPushed(repository, options);
  });
}

async function appendUntilPushed(repository: Repository, options: LedgerAppendOptions): Promise<LedgerAppendResult> {
  for (let attempt = 1; ; attempt++) {
    const { tips, state: early } = askState(repository);
    await Promise.allSettled([early]); // git finds sessions while documents are verified; what is wrong with those is told first
    const known = await requireTrust(repository);
    const branch = requireProtectedBranch(repository, known);
    if (options.push) await assertRemote(repository, branch);
    const standing = await catchUp(repository, branch, await tips, options.push ?? false);
    if (options.push && standing === 'parted') throw hasParted(branch);
    // what won may have changed who is trusted
    const trust = standing === 'moved' ? await requireTrust(repository) : known;
    const state = await (standing === 'moved' ? askState(repository).state : early);
    const result = await appendHere(repository, trust, { ...state, branch }, options);
    if (!options.push) return { ...result, pushed: false, pushed_to: null };
    // as far as is known here
    const isThere = result.commit === null && state.theirs?.oid === state.head.oid;
    if (await pushLedger(repository, branch))
      return { ...result, pushed: !isThere, pushed_to: { branch, remote: await remoteName(repository, branch) } };
    if (attempt === ATTEMPTS) throw lostAgain(branch);
  }
}

/** Null for an address, which may have a password in it. */
async function remoteName(repository: Repository, branch: string): Promise<string | null> {
  const config = await repository.config();
  const name = remoteOf(config, branch);
  return remoteNames(config).includes(name) ? name : null;
}

/** SPEC §11.4: a branch that writes to the ledger could not be merged with another that does. */
function requireProtectedBranch(repository: Repository, trust: Trust): string {
  const branch = readBranch(repository);
  const refs = protectedRefs(trust);
  if (branch !== null && refs.includes(`refs/heads/${branch}`)) return branch;
  const names = refs.map((ref) => ref.replace('refs/heads/', ''));
  throw new HandoffError(
    'not_protected_branch',
    `The ledger grows on ${names.join(' or ')} only, and this is ${branch ?? 'no branch'}.`,
    {
      hint: `Merge first; then, where ${names[0]} is checked out: git handoff ledger append`,
      data: { branch, protected: refs },
    },
  );
}

/** What HEAD has. Nothing of it was judged. */
interface State extends Tips {
  source: Source;
  ledger: Ledger | null;
  read: ReadTile;
  /** Resolves when git was asked. */
  asked: Promise<AskedCandidates>;
}

/** git answers in turn: first what tells which sessions are new, then those, which takes it long; the rest it finds meanwhile. */
function askState(repository: Repository): { tips: Promise<Tips>; state: Promise<State> } {
  repository.store.askAhead(['HEAD^{tree}', `HEAD:${ROOT}/`, `HEAD:${LEDGER}/`, `HEAD:${ROOT}/sessions/`]);
  const tips = later(readTips(repository));
  return { tips, state: later(readState(repository, tips)) };
}

async function readState(repository: Repository, tips: Promise<Tips>): Promise<State> {
  const { store } = repository;
  const { head, theirs } = await tips;
  const source = checkedOut(await openTree(store, head.tree), requireWorkTree(repository));
  const ledger = await readLedger(source);
  const asked = later(askCandidates(repository, source, ledger));
  await Promise.allSettled([asked]);
  return { head, theirs, source, ledger, read: ledger ? readAhead(store, ledger) : noTiles, asked };
}

async function appendHere(
  repository: Repository,
  trust: Trust,
  state: State & { branch: string },
  options: LedgerAppendOptions,
): Promise<Appended> {
  const { source, ledger } = state;
  const before = ledger?.checkpoint ?? { ...EMPTY_LOG, extensions: [], origin: ledgerOrigin(trust.repoId) };
  const isSigned = ledger !== null && (await isSignedStill(ledger, trust));
  const pin = await checkLedgerPin(repository, ledger, homeOf(trust), isSigned);
  if (ledger && !isSigned) assertSeenBefore(ledger, pin, options.resign);
  const signing = later(ledgerSigner(repository, trust, options)); // nobody need sign where nothing has arrived
  const candidates = await (await state.asked).answer;
  const seals = await arrivedSeals(repository, source, trust, ledger, candidates);
  if (seals.length === 0 && ledger === null) throw nothingSealed();
  if (seals.length === 0 && isSigned) return { ...headOf(before), appended: 0, commit: null };
  const { checkpoint, commit } = await commitGrowth(
    repository,
    await signing,
    { before, seals, candidates, state },
    options,
  );
  // without a remote there is nobody to race with
  const isOnShared = state.theirs === null || state.theirs.oid === state.head.oid;
  if (commit !== null) rememberOwn(repository, checkpoint, { commit, isOnShared });
  return { ...headOf(checkpoint), appended: seals.length, commit };
}

/** What is appended, and what it is appended to. */
interface Growth {
  before: Checkpoint;
  seals: readonly Arrival[];
  candidates: Candidates;
  state: State & { branch: string };
}

async function commitGrowth(
  repository: Repository,
  named: NamedSigner,
  { before, seals, candidates: { sessions }, state }: Growth,
  options: LedgerAppendOptions,
): Promise<{ checkpoint: Checkpoint; commit: string | null }> {
  const entries = seals.map(({ bytes }) => bytes);
  const growth = await planGrowth(before, entries, state.read, nodeSuite.sha256);
  // of the same size only the signatures differ
  const isSame = sessions === null || seals.length === 0;
  const extensions = isSame ? before.extensions : [`${SESSIONS_LINE}${sessions}`];
  const checkpoint = { origin: before.origin, size: growth.size, root: growth.root, extensions };
  const files = [...growth.written, { path: CHECKPOINT, bytes: signCheckpoint(checkpoint, named) }];
  const change = { identity: named.identity, message: messageOf(named, seals, growth) };
  const planned = (await find(state.source, LEDGER))?.oid ?? null;
  const commit = await writeLedger(
    repository,
    { ...growth, written: files, planned, branch: state.branch },
    change,
    options,
  );
  return { checkpoint, commit };
}

function headOf({ size, root, origin }: Checkpoint): Pick<LedgerAppendResult, 'size' | 'root' | 'origin'> {
  return { size, root: toHex(root), origin };
}

function messageOf({ identity }: NamedSigner, seals: readonly Arrival[], { size, root }: LogGrowth): string {
  const what = seals.length === 0 ? 'signs the ledger anew' : `appends ${seals.length} to the ledger`;
  return `handoff: ${identity} ${what}\n\n${size} seals, root ${toHex(root)}`;
}

/** Asks for the right edge. */
function readAhead(store: Repository['store'], { checkpoint, read }: Ledger): ReadTile {
  const tiles = edgeOf(checkpoint.size);
  const folders = new Set(tiles.flatMap((tile) => foldersOf(tilePath(tile))));
  store.askAhead([...folders].map((folder) => `HEAD:${LEDGER}/${folder}/`));
  const edge = new Map(tiles.map((tile) => [tilePath(tile), later(read(tile))]));
  return (tile) => edge.get(tilePath(tile)) ?? read(tile);
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}

function nothingToPush(): HandoffError {
  return new HandoffError('usage', 'A push takes commits, and with --no-commit or --no-stage there is none.', {
    hint: 'git handoff ledger append --push, or commit and push by hand.',
  });
}

function nothingSealed(): HandoffError {
  return new HandoffError('nothing_sealed', 'No session that is merged here has a seal.', {
    hint: 'git handoff seal, or git handoff wrap --seal; then merge it, and append.',
  });
}

function hasParted(branch: string): HandoffError {
  return new HandoffError('io', `${branch} has commits that its remote lacks, and lacks some that its remote has.`, {
    hint: 'git pull --rebase; if it stops at .handoff/ledger, git rebase --skip: that append is made anew. Then git handoff ledger append --push',
    data: { branch },
  });
}

function lostAgain(branch: string): HandoffError {
  return new HandoffError('io', `Others have pushed to ${branch} first, ${ATTEMPTS} times.`, {
    hint: 'git handoff ledger append --push tries again.',
  });
}
