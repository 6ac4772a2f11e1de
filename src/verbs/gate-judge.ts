import { auditDelta, type Delta } from '../audit/delta.ts';
import { find, type Source } from '../audit/source.ts';
import { type Account, toAccount } from '../core/coverage.ts';
import type { Finding } from '../core/error.ts';
import type { History } from '../core/history.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Changes } from '../git/changes.ts';
import type { Oid } from '../git/store.ts';
import type { Covers } from './gate-coverage.ts';
import { gateFacts } from './gate-facts.ts';
import { historyOf, olderAccounts } from './gate-history.ts';
import { judgeLedger } from './gate-ledger.ts';
import { type Case, type Outcome, openOutcome } from './gate-outcome.ts';
import { judgeClocks, judgeOpenSessions, judgeSecrets } from './gate-records.ts';
import { answer, type GateResult } from './gate-result.ts';
import { doneAccounts, failedRuns, judgeReviews, judgeTasks, judgeTokens } from './gate-tasks.ts';
import { judgeWriteback, type Writeback } from './gate-writeback.ts';
import type { Repository } from './repository.ts';

/** By whom it is judged, and what was judged elsewhere. */
interface JudgedCase extends Case {
  known: Oid[];
  trust: Trust;
  changes: Changes;
}

/** SPEC §10.2 to §10.7: everything that is wrong with a change to a branch that has a policy. */
export async function judge(repository: Repository, input: JudgedCase, rollbacks: Finding[]): Promise<GateResult> {
  const { trust, before } = input;
  const findings = [...rollbacks];
  const outcome = await openOutcome(repository, input, (found) => findings.push(found));
  const options = { suite: nodeSuite, onProgress: repository.progress };
  const delta = await auditDelta({ before, now: outcome.result }, trust, options);
  const added = delta.sessions.flatMap(({ records, added: paths }) => records.filter(({ path }) => paths.has(path)));
  const history = once(() => historyOf(repository, before, trust));
  const arrived: Arrived = { outcome, delta, added, accounts: accountsIn(added), history };
  const rules = rulesOf(trust);
  const writeback = rules.required ? await judgeCode(repository, input, arrived, rules.exempt) : NO_CODE;
  findings.push(
    ...delta.findings,
    ...writeback.findings,
    ...(await judgeRecords(repository, input, arrived, writeback)),
    ...(rules.review ? await judgeVerdicts(arrived, writeback) : []),
    ...failedRuns(arrived.accounts),
    ...judgeOpenSessions(delta.sessions, rules.openSessions),
    ...judgeSecrets(added),
    ...judgeClocks(added),
    ...(await judgeLedger(repository, input, delta)),
  );
  return {
    ...answer(
      input,
      input.range.commits.length,
      trust,
      findings.map((found) => withBase(found, input.base)),
    ),
    records: delta.files,
    ...gateFacts(delta.sessions, added, writeback.covers),
  };
}

/** What the change brings to `.handoff`. */
interface Arrived {
  outcome: Outcome;
  delta: Delta;
  /** The records that were not there before. */
  added: PlacedRecord[];
  /** The thoughts among them. */
  accounts: Account[];
  /** What was known before; asked for only where it can change the answer. */
  history(): Promise<History>;
}

const NO_CODE: Writeback = { findings: [], covers: new Map() };

function judgeCode(
  repository: Repository,
  { range, before, known, changes }: JudgedCase,
  { outcome, delta, accounts, history }: Arrived,
  exempt: readonly string[],
): Promise<Writeback> {
  // compared with base itself, what differs is not there
  const isCompared = known.length === 0 && outcome.result === outcome.theirs;
  return judgeWriteback(repository, {
    range,
    changes,
    whole: known.length > 0 ? null : outcome.beginnings,
    accounts,
    waived: new Set(waivedIn(delta.history)),
    exempt,
    older: async () => ({
      accounts: await olderAccounts(before, await history(), range),
      waived: waivedIn(await history()),
    }),
    dropped: outcome.dropped,
    isThere: async (path) => !isCompared && isSameAt(path, before, outcome.theirs),
  });
}

async function judgeRecords(
  repository: Repository,
  input: Case,
  { outcome, delta, added, accounts, history: before }: Arrived,
  { covers }: Writeback,
): Promise<Finding[]> {
  const { trust, history } = delta;
  const isAnchored = anchoring(repository, input, accounts, covers);
  const tasks = await judgeTasks({ source: outcome.result, trust, history, added, before, isAnchored });
  return [...tasks, ...(await judgeTokens({ history, before }))];
}

function accountsIn(added: readonly PlacedRecord[]): Account[] {
  return added.filter(({ record }) => record.kind === 'thought').map(toAccount);
}

function waivedIn({ waivers }: History): Oid[] {
  return waivers.map(({ commit }) => commit);
}

/** Reviews count wherever they are: here, or on the protected branch. Those of a bot, which is whoever names nobody, do not. */
async function judgeVerdicts({ delta, added, accounts, history }: Arrived, { covers }: Writeback): Promise<Finding[]> {
  const reviews = [...delta.history.reviews, ...(await history()).reviews];
  const isSomebody = ({ identity }: { identity: string }) => delta.trust.identities.get(identity)?.role !== 'bot';
  return judgeReviews(covers, doneAccounts(added, accounts), reviews.filter(isSomebody));
}

/** What a hint calls BASE is known here. */
function withBase(found: Finding, base: Oid): Finding {
  return { ...found, hint: found.hint.replace('--source=BASE', `--source=${base.slice(0, 12)}`) };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= read());
}

/** Code goes by with its bytes and its mode. */
async function isSameAt(path: string, before: Source, now: Source): Promise<boolean> {
  const [old, entry] = await Promise.all([find(before, path), find(now, path)]);
  return old?.oid === entry?.oid && old?.mode === entry?.mode;
}

interface Rules {
  required: boolean;
  review: boolean;
  openSessions: Finding['severity'];
  exempt: string[];
}

/** Of the policy that was there: the one that arrives says what holds from then on. */
function rulesOf({ policy }: Trust): Rules {
  const { writeback, exempt } = policy.document.fields as unknown as {
    writeback: { required: boolean; review: boolean; open_sessions: Finding['severity'] };
    exempt: string[];
  };
  return { required: writeback.required, review: writeback.review, openSessions: writeback.open_sessions, exempt };
}

/**
 * A thought about no code has nothing to be anchored to. One that was there before was judged when it came: after a squash its
 * commit may be nowhere.
 */
function anchoring({ store }: Repository, { base, range }: Case, accounts: readonly Account[], covers: Covers) {
  const commits = new Set(range.commits.map(({ oid }) => oid));
  return async ({ delta_id, commit }: { delta_id: string; commit: string }): Promise<boolean> => {
    const account = accounts.find((each) => each.delta_id === delta_id);
    if (!account || account.files.length === 0 || commits.has(commit) || covers.has(account)) return true;
    return (await store.has(`${commit}^{commit}`)) && store.isAncestor(commit, base);
  };
}
