import { join } from 'node:path';
import { sessionsLine } from '../../audit/ledger/complete.ts';
import { readLedger } from '../../audit/ledger/ledger.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { later, settled } from '../../core/later.ts';
import { type Checkpoint, ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { type LogGrowth, planGrowth } from '../../core/ledger/log-growth.ts';
import { CHECKPOINT } from '../../core/paths.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { oneAtATime } from '../../disk/one-at-a-time.ts';
import type { Oid } from '../../git/objects/store.ts';
import { tryClearLeft } from '../../git/own-file.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import type { NamedSigner } from '../../journal/keys/sign.ts';
import { type Actor, ledgerSigner } from '../../journal/keys/signers.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { ledgerRef, NO_BRANCH, protectedRefs, remoteNames, remoteOf } from '../../repository/tracking.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type Arrival, allCandidates, arrivedSeals, type Candidates } from '../../sealing/ledger/arrivals.ts';
import { clearLeftovers } from '../../sealing/ledger/leftovers.ts';
import {
  checkLedgerPin,
  EMPTY_LOG,
  forgetRefused,
  homeOf,
  rememberOwn,
  rememberPushed,
} from '../../sealing/ledger/pin.ts';
import { assertRemote, catchUp, pushLedger } from '../../sealing/ledger/race.ts';
import { assertSeenBefore, isSignedStill, signCheckpoint } from '../../sealing/ledger/signature.ts';
import { askState, type State } from '../../sealing/ledger/state.ts';
import { writeLedger } from '../../sealing/ledger/write.ts';

export interface LedgerAppendOptions extends Actor, PublishOptions {
  /** Push it; where somebody else was faster, begin again on what they pushed. */
  push?: boolean;
  /** The root of a ledger whose signer was revoked, and that a person has compared: it is signed anew. */
  resign?: string;
  /** Look at all sessions, also at those whose seals the checkpoint says it has. */
  all?: boolean;
}

export interface LedgerAppendResult {
  size: number;
  root: string;
  appended: number;
  origin: string;
  /** Who signed the checkpoint; null where nothing was signed. */
  identity: string | null;
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
  repository.store.getReady();
  return oneAtATime(join(repository.stateDir, 'appending'), repository, () => {
    // one that was killed right after its commit has left git's locks, and there may be nothing to write that would find them
    tryClearLeft(repository.dirs, repository.host);
    return appendUntilPushed(repository, options);
  });
}

async function appendUntilPushed(repository: Repository, options: LedgerAppendOptions): Promise<LedgerAppendResult> {
  let refused: Oid | null = null;
  for (let attempt = 1; ; attempt++) {
    const { tips, state: early } = askState(repository);
    await settled(early); // git finds sessions while documents are verified; what is wrong with those is told first
    const trustedAtFirst = await requireTrust(repository);
    const found = await tips;
    const branch = requireProtectedBranch(found.branch, trustedAtFirst);
    if (options.push) await assertRemote(repository, branch);
    const mayMove = (to: Oid) => assertGoesOn(repository, trustedAtFirst, { early, refused, to });
    const standing = await catchUp(repository, branch, found, { follows: options.push ?? false, mayMove });
    if (options.push && standing === 'parted') throw hasParted(branch);
    // what won may have changed who is trusted
    const trust = standing === 'moved' ? await requireTrust(repository) : trustedAtFirst;
    const state = await (standing === 'moved' ? askState(repository).state : early);
    const result = await appendHere(repository, trust, { ...state, branch }, options);
    if (!options.push) return { ...result, pushed: false, pushed_to: null };
    // as far as is known here
    const isThere = result.commit === null && state.theirs?.oid === state.headCommit.oid;
    if (await pushLedger(repository, branch)) {
      rememberPushed(repository, result);
      return { ...result, pushed: !isThere, pushed_to: { branch, remote: await remoteName(repository, branch) } };
    }
    refused = result.commit;
    if (attempt === ATTEMPTS) throw lostAgain(branch);
  }
}

/** Before what is checked out is given up: the ledger of the remote goes on from all that was seen, and what HEAD has was seen. */
async function assertGoesOn(
  repository: Repository,
  trust: Trust,
  { early, refused, to }: { early: Promise<State>; refused: Oid | null; to: Oid },
): Promise<void> {
  const { ledger } = await early;
  if (ledger) await checkLedgerPin(repository, ledger, homeOf(trust), await isSignedStill(ledger, trust));
  if (refused !== null) forgetRefused(repository, refused);
  await checkLedgerPin(repository, await readLedger(await openTree(repository.store, to)), homeOf(trust), false);
}

/** Null for an address, which may have a password in it. */
async function remoteName(repository: Repository, branch: string): Promise<string | null> {
  const config = await repository.config();
  const name = remoteOf(config, branch);
  return remoteNames(config).includes(name) ? name : null;
}

/** SPEC §11.4: a branch that writes to the ledger could not be merged with another that does. */
function requireProtectedBranch(branch: string | null, trust: Trust): string {
  const ref = ledgerRef(protectedRefs(trust));
  if (branch !== null && `refs/heads/${branch}` === ref) return branch;
  const name = ref.replace('refs/heads/', '');
  if (ref === NO_BRANCH) {
    throw new HandoffError('not_protected_branch', 'The ledger grows on a protected branch, and the policy has none.', {
      hint: 'git handoff policy set protected refs/heads/BRANCH',
      data: { branch, protected: [] },
    });
  }
  throw new HandoffError(
    'not_protected_branch',
    `The ledger grows on ${name} only, and this is ${branch ?? 'no branch'}.`,
    {
      hint: `Merge first; then, where ${name} is checked out: git handoff ledger append`,
      data: { branch, protected: [ref] },
    },
  );
}

async function appendHere(
  repository: Repository,
  trust: Trust,
  state: OnBranch,
  options: LedgerAppendOptions,
): Promise<Appended> {
  const { source, ledger } = state;
  const before = ledger?.checkpoint ?? { ...EMPTY_LOG, extensions: [], origin: ledgerOrigin(trust.repoId) };
  const isSigned = ledger !== null && (await isSignedStill(ledger, trust));
  const pin = await checkLedgerPin(repository, ledger, homeOf(trust), isSigned);
  if (ledger && !isSigned) assertSeenBefore(ledger, pin, options.resign);
  const signing = later(ledgerSigner(repository, trust, options)); // nobody need sign where nothing has arrived
  const asked = await (await state.candidates).answer;
  const candidates = options.all ? await allCandidates(repository, source) : asked;
  const seals = await arrivedSeals(repository, trust, { source, ledger }, candidates);
  if (seals.length === 0 && ledger === null) throw nothingSealed();
  if (seals.length === 0 && isSigned) {
    if (options.stage !== false) await clearLeftovers(repository, { ...state, ledger });
    return { ...headOf(before), appended: 0, identity: null, commit: null };
  }
  const { checkpoint, commit } = await commitGrowth(
    repository,
    await signing,
    { before, seals, candidates, state },
    options,
  );
  // without a remote there is nobody to race with
  const isOnShared = state.theirs === null || state.theirs.oid === state.headCommit.oid;
  if (commit !== null) await rememberOwn(repository, homeOf(trust), checkpoint, { commit, isOnShared });
  return { ...headOf(checkpoint), appended: seals.length, identity: (await signing).identity, commit };
}

/** What the protected branch has that is checked out. */
type OnBranch = State & { branch: string };

/** What is appended, and what it is appended to. */
interface Growth {
  before: Checkpoint;
  seals: readonly Arrival[];
  candidates: Candidates;
  state: OnBranch;
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
  const extensions = isSame ? before.extensions : [sessionsLine(sessions)];
  const checkpoint = { origin: before.origin, size: growth.size, root: growth.root, extensions };
  const note = signCheckpoint(checkpoint, named, state.ledger?.note ?? null);
  const written = [...growth.written, { path: CHECKPOINT, bytes: note }];
  const plan = { branch: state.branch, tree: state.headCommit.tree, sessions, seals };
  const message = messageOf(named, seals, growth);
  const commit = await writeLedger(repository, { ...growth, written, plan }, { ...named, message }, options);
  return { checkpoint, commit };
}

function headOf({ size, root, origin }: Checkpoint): Pick<LedgerAppendResult, 'size' | 'root' | 'origin'> {
  return { size, root: toHex(root), origin };
}

function messageOf({ identity }: NamedSigner, seals: readonly Arrival[], { size, root }: LogGrowth): string {
  const what = seals.length === 0 ? 'signs the ledger anew' : `appends ${seals.length} to the ledger`;
  return `handoff: ${identity} ${what}\n\n${size} seals, root ${toHex(root)}`;
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
