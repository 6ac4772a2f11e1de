import { openCheckpoint } from '../../audit/ledger/ledger.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError, hinting } from '../../core/error.ts';
import type { SealRecord } from '../../core/generated/types.ts';
import { isOfKind } from '../../core/record/kinds.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { chosenSession, requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { lastSeal, readTip } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { findTreeSession } from '../../repository/tree-session.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { checkCurrentPin, homeOf } from '../../sealing/ledger/pin.ts';
import { requireLedger } from '../../sealing/require-ledger.ts';
import { noRecords, verifySeal } from '../../sealing/seal-plan.ts';

export interface RootResult {
  session_id: string;
  tree_size: number;
  root: string;
}

/** The ledger's tree head. */
export interface LedgerRoot {
  size: number;
  root: string;
  origin: string;
}

export interface RootOptions extends SessionChoice {
  ledger?: boolean;
}

export async function root(repository: Repository, options: RootOptions = {}): Promise<RootResult | LedgerRoot> {
  if (!options.ledger) return sessionRoot(repository, options);
  if (options.session === undefined) return ledgerRoot(repository);
  throw new HandoffError('usage', `Expected a session or --ledger, found both ${options.session} and --ledger.`, {
    hint: 'git handoff root SESSION, or git handoff root --ledger.',
  });
}

async function ledgerRoot(repository: Repository): Promise<LedgerRoot> {
  const trust = await requireTrust(repository);
  const ledger = await requireLedger(await currentSource(repository));
  await openCheckpoint(ledger, trust, nodeSuite);
  await checkCurrentPin(repository, ledger, homeOf(trust));
  const { size, root: head, origin } = ledger.checkpoint;
  return { size, root: toHex(head), origin };
}

/** The tree head of a session's newest seal: of this machine's sessions from the journal, of others' from the tree. */
async function sessionRoot(repository: Repository, options: SessionChoice): Promise<RootResult> {
  const trust = await requireTrust(repository);
  const named = options.session ?? (repository.env.HANDOFF_SESSION || undefined);
  const choice = named === undefined ? options : { session: named };
  const own = await ownSession(repository, trust, choice);
  if (own) return answer(own.session_id, await journalledSeal(repository, trust, own));
  const { session_id, files } = await findTreeSession(await currentSource(repository), trust, choice.session!);
  return answer(session_id, files.findLast(isOfKind('seal'))?.record.fields, 'Where it was written: ');
}

const NAME_ONE = "git handoff root SESSION; git handoff sessions lists them; --ledger for the ledger's root";

/** Null for a named session that is not of this machine. */
async function ownSession(
  repository: Repository,
  trust: Trust,
  { session, as }: SessionChoice,
): Promise<Session | null> {
  if (session === undefined) {
    const own = requireSession(repository, trust, as === undefined ? {} : { as });
    return (await own.catch(hinting('no_session', NAME_ONE))).session;
  }
  return chosenSession(repository, trust, { session }).catch((error) => {
    if (error instanceof HandoffError && error.code === 'unknown_session') return null;
    throw error;
  });
}

async function journalledSeal(repository: Repository, trust: Trust, session: Session): Promise<SealRecord | undefined> {
  const dirs = dirsOf(repository);
  const { session_id } = session;
  if (readTip(dirs, session_id) === null) throw noRecords(session_id);
  const seal = lastSeal(dirs, session_id);
  return seal ? (await verifySeal(trust, session, seal)).fields : undefined;
}

function answer(session_id: string, seal: SealRecord | undefined, where = ''): RootResult {
  if (seal) return { session_id, tree_size: seal.tree_size, root: seal.root };
  throw new HandoffError('nothing_sealed', `Session ${session_id} has no seal.`, {
    hint: `${where}git handoff seal ${session_id.slice(0, 8)}`,
    data: { session_id },
  });
}
