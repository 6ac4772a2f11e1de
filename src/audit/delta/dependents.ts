import { HandoffError } from '../../core/error.ts';
import { LEDGER } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { attempt, type Report, toFinding } from '../finding.ts';
import type { Entry, Source } from '../source/source.ts';
import { readLayout } from '../tree/layout.ts';
import { readSignedDocument } from '../trust/trust.ts';

/** Who was trusted, and who is to be. */
export interface Turn {
  was: Trust;
  is: Trust;
}

/**
 * SPEC §10.3.6: judges documents that a change leaves as they are, but whose signer it takes the right to sign from. What a revoked
 * key signed becomes distrusted, which is a warning. What somebody signed who is no maintainer any more would be an error in every
 * later tree, so this same change must bring another signature. Identities are judged elsewhere, with the trust.
 */
export async function auditDependents(
  source: Source,
  arriving: ReadonlySet<string>,
  turn: Turn,
  suite: Suite,
  report: Report,
): Promise<void> {
  if (!losesKey(turn)) return;
  const { tasks, project, ledger, proofs } = await readLayout(source, () => {});
  const stays = ({ path }: Entry): boolean => !arriving.has(path);
  const judge = (path: string, hint: string, check: Check): Promise<unknown> =>
    attempt(path, withHint(report, hint), () => assertKept(check, turn));
  for (const task of tasks.filter(stays))
    await judge(task.path, resign(task), (trust) => readSignedDocument(source, task, 'task-definition', trust, suite));
  if (project && stays(project))
    await judge(project.path, resign(project), (trust) => readSignedDocument(source, project, 'project', trust, suite));
  if (!ledger && proofs.length === 0) return;
  const [{ auditProof }, { openCheckpoint, readLedger }] = await Promise.all([
    import('../ledger/audit.ts'),
    import('../ledger/ledger.ts'),
  ]);
  const signed = ledger && ![...arriving].some((path) => path.startsWith(`${LEDGER}/`)) && (await readLedger(source));
  if (signed) await judge(LEDGER, APPEND, (trust) => openCheckpoint(signed, trust, suite));
  for (const proof of proofs.filter(stays))
    await judge(proof.path, REMOVE, (trust) => auditProof(source, proof, trust, suite));
}

type Check = (trust: Trust) => Promise<unknown>;

/**
 * Throws what is wrong by those who are to be trusted, unless it was as wrong before. What was distrusted, and so harmless, is an
 * error for ever once the holder of the revoked key is no maintainer any more: nothing tells then that a maintainer ever signed it.
 */
async function assertKept(check: Check, { was, is }: Turn): Promise<void> {
  const fault = await check(is).then(() => null, asFault);
  if (!fault) return;
  const before = await check(was).then(() => null, asFault);
  if (!before || (isHarmless(before) && !isHarmless(fault))) throw fault;
}

/** SPEC §5.5: what is only distrusted breaks nothing. */
function isHarmless(fault: HandoffError): boolean {
  return toFinding(fault, '').severity === 'warning';
}

function asFault(error: unknown): HandoffError {
  if (error instanceof HandoffError && error.exitCode !== 4) return error;
  throw error;
}

function withHint(report: Report, hint: string): Report {
  return (found) => report({ ...found, hint });
}

/** SPEC §5.5: in the same change, or nothing that it says counts. */
function resign({ path }: Entry): string {
  return `If it says what it should, another maintainer signs it in the same change: git handoff identity resign ${quoteWord(path)}`;
}

const APPEND = 'Another maintainer signs the ledger, on the protected branch: git handoff ledger append';
const REMOVE = 'It proves nothing by then: git rm it, and once the ledger is signed anew, git handoff prove RECORD.';

/** Whether a maintainer's key can sign no more, or is a maintainer's no more. */
function losesKey({ was, is }: Turn): boolean {
  const left = new Set(maintainersKeys(is));
  return maintainersKeys(was).some((key) => !left.has(key));
}

/** Each with what its signature is worth: a revoked one still tells what is distrusted from what nobody signed. */
function maintainersKeys({ identities }: Trust): string[] {
  const maintainers = [...identities.values()].filter(({ role }) => role === 'maintainer');
  return maintainers.flatMap(({ name, keys }) =>
    keys.map((key) => `${name} ${key.fingerprint} ${isRevoked(key) ? 'revoked' : 'signs'}`),
  );
}
