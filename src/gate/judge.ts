import { type AuditedDifference, auditDifference } from '../audit/delta/delta.ts';
import type { Evidence } from '../audit/evidence/evidence.ts';
import type { Source } from '../audit/source/source.ts';
import type { Budget } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import { isOfKind } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type Account, toAccount } from '../core/writeback/account.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { evidenceIn } from '../repository/tree-evidence.ts';
import { accountsFor, waivedAmong } from './accounts.ts';
import { asAdvice, isAdvisory } from './advisory.ts';
import { judgeClocks } from './clocks.ts';
import { codeBy } from './coverage/code.ts';
import type { Comparer } from './coverage/comparer.ts';
import { judgeForge } from './coverage/forge/forge.ts';
import { hasLanded } from './coverage/landed.ts';
import { judgeCycles } from './cycles.ts';
import { judgeDefinitions, openDefinitions } from './definitions.ts';
import { type Exempt, readExempt } from './exempt.ts';
import { gateFacts } from './facts.ts';
import { judgeLedger } from './ledger.ts';
import { type Case, type Outcome, openOutcome } from './outcome.ts';
import { judgeOpenSessions, judgeSecrets } from './records.ts';
import { answer, type GateResult } from './result.ts';
import { judgeReviews, reviewedAmong, verdictsOn } from './reviews/reviews.ts';
import { judgeRunsOf, withRunsOf } from './runs.ts';
import { type DoneTask, doneTasks, failedRuns, judgeTasks, openTrails, type Trails } from './tasks.ts';
import { judgeTokens } from './tokens.ts';
import type { TrunkTrust } from './trunk.ts';
import { versionReader } from './versions.ts';
import { judgeWriteback, type Writeback } from './writeback.ts';

/** By whom it is judged, and what was judged elsewhere. */
export interface JudgedCase extends Case {
  knownCommits: Oid[];
  trust: Trust;
  comparer: Comparer;
  /** Set where a trunk has decided what the branch has not got yet; `trust` is by it then. */
  trunk?: TrunkTrust;
  /** The commit that the trunk is at, where that is another branch. */
  tip: Oid | null;
  /** What it has there. */
  accepted: Source | null;
}

/** SPEC §10.2 to §10.7: everything that is wrong with a change to a branch that has a policy. */
export async function judge(repository: Repository, input: JudgedCase, rollbacks: Finding[]): Promise<GateResult> {
  const { trust, before, budget, trunk, accepted } = input;
  const findings = [...rollbacks];
  const report = (found: Finding) => findings.push(found);
  const outcome = await openOutcome(repository, input, report);
  const now = trunk ? await trunk.withTrust(outcome.result, report) : outcome.result;
  const readVersions = versionReader(repository, input);
  const options = { suite: nodeSuite, readVersions, trunk: accepted, onProgress: repository.progress };
  const delta = await auditDifference({ before: trunk?.before ?? before, now }, trust, options);
  const added = delta.sessions.flatMap(({ records, added: paths }) => records.filter(({ path }) => paths.has(path)));
  const evidence = evidenceIn(repository, before, trust);
  const trails = openTrails(evidence, delta.sessions, added);
  const exempt = await readExempt(trust, [before]);
  const arrived: Arrived = { outcome, delta, added, accounts: accountsIn(added), evidence, trails, exempt };
  const done = await doneTasks(added, trails, budget);
  const { writeback: rules } = trust.policy.rules; // of the policy that was there: the one that arrives counts from then on
  // SPEC §10.5, §10.6: what thoughts cover decides on reviews and done tasks too, even where code needs no thought
  const isAsked = rules.required || rules.review || done.length > 0;
  const writeback = isAsked ? await judgeCode(repository, input, arrived) : NO_CODE;
  const runs = await judgeRunsOf(repository, { done, trails, added, evidence, rules, budget });
  const all = [
    ...findings,
    ...delta.findings,
    ...writeback.findings,
    ...(await judgeRecords(repository, input, arrived, writeback, done)),
    ...(rules.review ? await judgeVerdicts(arrived, writeback, done, budget) : []),
    ...withRunsOf(failedRuns(arrived.accounts), runs),
    ...judgeOpenSessions(delta.sessions, rules.open_sessions),
    ...judgeSecrets(added, budget),
    ...(await judgeClocks(repository, input, added)),
    ...(await judgeLedger(repository, input, delta)),
  ];
  return {
    ...answer(
      input,
      input.range.commits.length,
      trust,
      (isAdvisory(trust) ? all.map(asAdvice) : all).map((found) => withBase(found, input.base)),
    ),
    records: delta.files,
    ...gateFacts(delta.sessions, added, writeback.covers),
  };
}

/** What the change brings to `.handoff`. */
interface Arrived {
  outcome: Outcome;
  delta: AuditedDifference;
  /** The records that were not there before. */
  added: PlacedRecord[];
  /** The thoughts among them. */
  accounts: Account[];
  /** What the protected branch knows about what is named, all of it; asked only where it can change the answer. */
  evidence: Evidence;
  trails: Trails;
  /** By the policy that was there. */
  exempt: Exempt;
}

const NO_CODE: Writeback = {
  findings: [],
  covers: new Map(),
  isAnchored: async () => false,
  findUnlisted: async () => new Set(),
};

async function judgeCode(
  repository: GitAccess,
  input: JudgedCase,
  { outcome, added, accounts, evidence, delta, exempt }: Arrived,
): Promise<Writeback> {
  const { base, head, range, knownCommits, comparer, trust, budget } = input;
  const { review, required: isRequired } = trust.policy.rules.writeback;
  // compared with base itself, what differs is not there
  const isCompared = knownCommits.length === 0 && outcome.result === outcome.theirs;
  let asked: Promise<Set<string>> | undefined;
  const differing = () => (asked ??= differingPaths(comparer, base, head));
  const writeback = await judgeWriteback(repository, {
    base,
    head,
    range,
    comparer,
    isRequired,
    isReviewed: review,
    budget,
    whole: knownCommits.length > 0 ? null : outcome.beginnings,
    accounts,
    waived: new Set(waivedIn(added)),
    exempt,
    older: async (commits, patchIds) => ({
      accounts: await accountsFor(evidence, commits, patchIds),
      waived: await waivedAmong(evidence, commits),
    }),
    // SPEC §10.6: what somebody refused, or nobody has looked at, accounts for no file
    claimsOf: async (claiming, covers, findUnlisted) => {
      if (!review) return claiming;
      const verdicts = await verdictsOn(idsOf([...claiming, ...accounts]), { evidence, ...delta });
      return reviewedAmong(claiming, { covers, findUnlisted }, verdicts, budget);
    },
    dropped: outcome.dropped,
    isThere: async (path) => !isCompared && !(await differing()).has(path),
  });
  if (outcome.mergeBases === null || !isRequired) return writeback;
  const { mergeBases } = outcome;
  const codeOf = codeBy(exempt.patterns, exempt.folders);
  const landed = await judgeForge(comparer, codeOf, { base, head, mergeBases, range });
  return { ...writeback, findings: [...writeback.findings, ...landed] };
}

async function judgeRecords(
  repository: GitAccess,
  input: JudgedCase,
  arrived: Arrived,
  writeback: Writeback,
  done: readonly DoneTask[],
): Promise<Finding[]> {
  const { outcome, delta, added, trails } = arrived;
  const isAnchored = anchoring(repository, input, arrived, writeback);
  const { budget } = input;
  const source = outcome.result;
  const definitions = openDefinitions(source, delta.trust);
  const tasks = await judgeTasks({ source, definitions, done, isAnchored, budget });
  const distrusted = await judgeDefinitions(definitions, added, budget);
  const cycles = await judgeCycles(input.before, source, budget);
  return [...tasks, ...distrusted, ...cycles, ...(await judgeTokens(added, trails, budget))];
}

function accountsIn(added: readonly PlacedRecord[]): Account[] {
  return added.filter(isOfKind('thought')).map(toAccount);
}

function waivedIn(added: readonly PlacedRecord[]): Oid[] {
  return added.filter(isOfKind('waiver')).map(({ record }) => record.fields.commit_sha);
}

async function judgeVerdicts(
  { delta, evidence, accounts }: Arrived,
  writeback: Writeback,
  done: readonly DoneTask[],
  budget: Budget,
): Promise<Finding[]> {
  const thoughts = idsOf([...writeback.covers.keys(), ...accounts, ...done.flatMap(({ thought }) => thought ?? [])]);
  return judgeReviews(writeback, done, await verdictsOn(thoughts, { evidence, ...delta }), budget);
}

function idsOf(thoughts: readonly { delta_id: string }[]): Set<string> {
  return new Set(thoughts.map(({ delta_id }) => delta_id));
}

/** What a hint calls BASE is known here. */
function withBase(found: Finding, base: Oid): Finding {
  const hint = found.hint.replace(/(--source=|git checkout )BASE\b/, (_, before) => `${before}${base.slice(0, 12)}`);
  return { ...found, hint };
}

/** As git tells them, like the paths that are looked for here: a path is not the names in it, each read by itself. */
async function differingPaths({ readRaw }: Comparer, base: Oid, head: Oid): Promise<Set<string>> {
  const [changes = []] = await readRaw([{ commit: head, parent: base }]);
  return new Set(changes.map(({ path }) => path));
}

/** A thought about no code has nothing to be anchored to. One that was there before may have come without its code. */
function anchoring(repository: GitAccess, input: JudgedCase, arrived: Arrived, { isAnchored }: Writeback) {
  const { store } = repository;
  const codeOf = codeBy(arrived.exempt.patterns, arrived.exempt.folders);
  const commits = new Set(input.range.commits.map(({ oid }) => oid));
  const byId = new Map(arrived.accounts.map((account) => [account.delta_id, account]));
  return async ({ delta_id, commit }: { delta_id: string; commit: string }): Promise<boolean> => {
    const account = byId.get(delta_id);
    if (!account) {
      const older = (await accountsFor(arrived.evidence, [commit])).find((each) => each.delta_id === delta_id);
      return (
        older !== undefined && (older.files.length === 0 || (await hasLanded(repository, { ...input, codeOf }, older)))
      );
    }
    if (account.files.length === 0 || commits.has(commit) || (await isAnchored(account))) return true;
    if (!(await store.has(`${commit}^{commit}`))) return false;
    for (const there of [input.base, ...input.knownCommits]) if (await store.isAncestor(commit, there)) return true;
    return false;
  };
}
