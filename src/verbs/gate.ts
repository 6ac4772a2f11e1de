import { auditDelta, type Delta } from '../audit/delta.ts';
import { readHistory } from '../audit/history.ts';
import { openMerged } from '../audit/merged-source.ts';
import { find, type Source } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import { hasPolicy, loadTrust } from '../audit/trust.ts';
import { type Account, toAccount } from '../core/coverage.ts';
import { type Finding, hasErrors } from '../core/error.ts';
import { emptyHistory, type History } from '../core/history.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { byNewest } from '../core/newest.ts';
import { ROOT } from '../core/paths.ts';
import { parseRecord } from '../core/record.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import { findSecrets } from '../core/secrets.ts';
import type { Trust } from '../core/trust.ts';
import { recordId, type VerifiedRecord } from '../core/verify.ts';
import { nodeSuite } from '../crypto.ts';
import type { Comparison } from '../git/changes.ts';
import { type Range, readRange } from '../git/range.ts';
import { isNullOid, noSuchRevision, type Oid } from '../git/store.ts';
import { gateFacts } from './gate-facts.ts';
import type { GateResult } from './gate-result.ts';
import { judgeReviews, judgeTasks, judgeTokens } from './gate-tasks.ts';
import { judgeWriteback, type Writeback } from './gate-writeback.ts';
import { checkRollbacks, seenTrust, tryPinRoot } from './pins.ts';
import { assertPinned, assertRoot, cacheFolder, type Repository } from './repository.ts';
import { textsIn } from './secret.ts';

export interface GateOptions {
  /** A revision, or an id of zeros where there is nothing. */
  base: string;
  head: string;
  root?: string;
  /** Head takes base's place as it is, as in a push: what base has and head has not is lost. Else head is to be merged. */
  replaces?: boolean;
  /** What these commits have was judged elsewhere and is not judged again. */
  known?: readonly string[];
}

/** May head replace base on a protected branch? SPEC §10 */
export async function gate(repository: Repository, options: GateOptions): Promise<GateResult> {
  if (options.root !== undefined) assertRoot(options.root);
  const [ends] = await Promise.all([resolveEnds(repository, options), repository.config()]);
  if (await repository.store.isShallow()) return answer(ends, 0, null, [shallow()]);
  const [range, ground] = await Promise.all([
    readRange(repository.git, ends.head, ends.base === null ? [] : [ends.base, ...ends.known]),
    readGround(repository, ends.base),
  ]);
  if (!ground) return judgeFirst(repository, ends, range, options.root);
  const { before, trust, findings } = ground;
  if (!trust) return answer(ends, range.commits.length, null, findings);
  await assertPinned(repository, trust.repoId, options.root);
  if (options.root === undefined) await tryPinRoot(repository, trust.repoId);
  const rollbacks = await checkRollbacks(repository, seenTrust(trust), ends.base!, false);
  return judge(repository, { ...ends, before, trust, range, replaces: options.replaces ?? false }, rollbacks);
}

interface Ends {
  base: Oid | null;
  head: Oid;
  known: Oid[];
}

async function resolveEnds({ store }: Repository, { base, head, known = [] }: GateOptions): Promise<Ends> {
  const resolve = async (rev: string): Promise<Oid> => {
    const oid = await store.resolve(`${rev}^{commit}`);
    if (oid === null) throw noSuchRevision(rev);
    return oid;
  };
  const [from, to, ...judged] = await Promise.all([
    isNullOid(base) ? null : resolve(base),
    resolve(head),
    ...known.map(resolve),
  ]);
  return { base: from!, head: to!, known: judged as Oid[] };
}

interface Ground {
  before: Source;
  trust: Trust | null;
  findings: Finding[];
}

/** What was there, and whom it trusts; null where there was no policy. */
async function readGround({ store }: Repository, base: Oid | null): Promise<Ground | null> {
  const before = base === null ? null : await openTree(store, base);
  if (!before || !(await hasPolicy(before))) return null;
  const findings: Finding[] = [];
  return { before, trust: await loadTrust(before, nodeSuite, (found) => findings.push(found)), findings };
}

/** SPEC §10.1: where there is no policy anything may come, but what brings one must bring one that holds. */
async function judgeFirst(
  repository: Repository,
  ends: Ends,
  range: Range,
  root: string | undefined,
): Promise<GateResult> {
  const source = await openTree(repository.store, ends.head);
  if (!(await hasPolicy(source))) return answer(ends, range.commits.length, null, []);
  const { auditTree } = await import('../audit/tree.ts');
  const { trust, checked, findings } = await auditTree(source, {
    suite: nodeSuite,
    onProgress: repository.progress,
    onTrust: (found) => assertPinned(repository, found.repoId, root),
  });
  return { ...answer(ends, range.commits.length, trust, findings), records: checked };
}

function answer(ends: Ends, commits: number, trust: Trust | null, findings: Finding[]): GateResult {
  return {
    pass: !hasErrors(findings),
    base: ends.base,
    head: ends.head,
    commits,
    records: 0,
    root: trust?.repoId ?? null,
    policy_version: trust?.policy.version ?? null,
    findings,
    sessions: [],
    thoughts: [],
    reviews: [],
    waivers: [],
  };
}

function shallow(): Finding {
  return {
    code: 'shallow_repository',
    severity: 'error',
    message: 'The clone is shallow: what is new in it, and what was there before, cannot be told apart.',
    hint: 'git fetch --unshallow; in CI, fetch the whole history (fetch-depth: 0, GIT_DEPTH: 0).',
  };
}

interface Case extends Ends {
  before: Source;
  trust: Trust;
  range: Range;
  replaces: boolean;
}

async function judge(repository: Repository, input: Case, rollbacks: Finding[]): Promise<GateResult> {
  const { trust, before, range } = input;
  const findings = [...rollbacks];
  const { now, beginnings, isRewritten } = await openResult(repository, input, findings);
  const delta = await auditDelta({ before, now }, trust, { suite: nodeSuite, onProgress: repository.progress });
  const added = delta.sessions.flatMap(({ records, added: paths }) => records.filter(({ path }) => paths.has(path)));
  const history = once(() => historyOf(repository, before, trust));
  const rules = rulesOf(trust);
  const accounts = added.filter(({ record }) => record.kind === 'thought').map(toAccount);
  const writeback: Writeback = rules.required
    ? await judgeWriteback(repository, {
        range,
        whole: input.known.length > 0 ? null : beginnings,
        accounts,
        waived: new Set(waiversIn(added)),
        exempt: rules.exempt,
        older: async () => olderAccounts(before, await history()),
        isRewritten,
        isThere: async (path) => isSameAt(path, before, await openTree(repository.store, input.head)),
      })
    : { findings: [], covers: new Map() };
  const tasks = await judgeTasks({
    source: now,
    trust: delta.trust,
    history: delta.history,
    added,
    before: history,
    isAnchored: anchoring(repository, input, accounts, writeback),
  });
  findings.push(
    ...delta.findings,
    ...writeback.findings,
    ...tasks,
    ...(await judgeTokens({ history: delta.history, before: history })),
    ...(rules.review ? judgeReviews(writeback.covers, added) : []),
    ...openSessions(delta, rules.openSessions),
    ...secretsIn(added),
  );
  return {
    ...answer(input, range.commits.length, delta.trust, findings),
    records: delta.files,
    ...gateFacts(delta.sessions, added, writeback.covers),
  };
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

interface Result {
  now: Source;
  beginnings: Comparison[];
  /** Whether something that base has is not in head's past. */
  isRewritten: boolean;
}

/**
 * The tree as it is to be, and the trees that its code is compared with. A branch that has not seen the newest of the protected
 * one is judged as merging it leaves it; what takes a branch's place as it is, as it is.
 */
async function openResult(
  { store }: Repository,
  { base, head, before, range, replaces }: Case,
  findings: Finding[],
): Promise<Result> {
  const theirs = await openTree(store, head);
  const after = theirs.oid!;
  const isAhead = base === head || range.boundary.has(base!);
  if (isAhead || replaces) return { now: theirs, beginnings: [{ before: before.oid, after }], isRewritten: !isAhead };
  const bases = await Promise.all((await store.mergeBases(base!, head)).map((oid) => openTree(store, oid)));
  const now = await openMerged({ ours: before, theirs, bases }, ROOT, (found) => findings.push(found));
  return {
    now,
    beginnings: bases.length === 0 ? [{ before: null, after }] : bases.map(({ oid }) => ({ before: oid, after })),
    isRewritten: false,
  };
}

/** Code goes by with its bytes and its mode. */
async function isSameAt(path: string, before: Source, now: Source): Promise<boolean> {
  const [old, entry] = await Promise.all([find(before, path), find(now, path)]);
  return old?.oid === entry?.oid && old?.mode === entry?.mode;
}

/** What was known before: read at most once, from what was added since it was last read. */
async function historyOf(repository: Repository, source: Source, trust: Trust): Promise<History> {
  if (!(await find(source, `${ROOT}/sessions`))) return emptyHistory();
  const folder = repository.build === null ? null : cacheFolder(repository, 'history');
  const options = { suite: nodeSuite, cacheFolder: folder, onProgress: repository.progress };
  return (await readHistory(source, trust, options)).history;
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => (value ??= read());
}

const OLDER_THOUGHTS = 512;

/** Thoughts of earlier changes, the newest. The history has verified them, and their id tells that these are their bytes. */
async function olderAccounts(source: Source, { tasks }: History): Promise<Account[]> {
  const thoughts = Object.values(tasks)
    .flatMap((trail) => trail.thoughts)
    .sort(byNewest)
    .slice(0, OLDER_THOUGHTS);
  const accounts: Account[] = [];
  for (const { path, delta_id } of thoughts) {
    const entry = await find(source, path);
    if (!entry) continue;
    const record = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
    if (recordId(record.signedBytes, nodeSuite) !== delta_id) continue;
    accounts.push(toAccount({ path, record: { ...record, id: delta_id } as VerifiedRecord }));
  }
  return accounts;
}

/**
 * A thought about no code has nothing to be anchored to. One that was there before was judged when it came: after a squash its
 * commit may be nowhere.
 */
function anchoring(repository: Repository, { base, range }: Case, accounts: readonly Account[], { covers }: Writeback) {
  const commits = new Set(range.commits.map(({ oid }) => oid));
  return async ({ delta_id, commit }: { delta_id: string; commit: string }): Promise<boolean> => {
    const account = accounts.find((each) => each.delta_id === delta_id);
    if (!account || account.files.length === 0 || commits.has(commit) || covers.has(account)) return true;
    const { store } = repository;
    return (await store.has(`${commit}^{commit}`)) && store.isAncestor(commit, base!);
  };
}

function waiversIn(added: readonly PlacedRecord[]): Oid[] {
  return added.filter(({ record }) => record.kind === 'waiver').map(({ record }) => record.fields.commit_sha as Oid);
}

/** SPEC §10.7: a session without its baton leaves the next agent with nothing. */
function openSessions({ sessions }: Delta, severity: Finding['severity']): Finding[] {
  const open = sessions.filter(
    ({ records }) => records.length > 0 && !records.some(({ record }) => record.kind === 'baton'),
  );
  return open.map(({ folder, records }) => ({
    code: 'session_open',
    severity,
    path: folder,
    message: `${records[0]!.record.fields.identity} has not wrapped this session: it has no baton.`,
    hint: 'git handoff wrap before you push the last of it.',
  }));
}

/** SPEC §8.6: what was refused when it was written may have been written by something else. */
function secretsIn(added: readonly PlacedRecord[]): Finding[] {
  return added.flatMap(({ path, record }) => {
    if (record.fields.secret_allowed === true) return [];
    const { signature: _, ...fields } = record.fields;
    const found = findSecrets([...(record.body ? [record.body] : []), ...textsIn(fields)].join('\n'));
    return found.slice(0, 1).map(({ rule }) => ({
      code: 'secret_found' as const,
      severity: 'error' as const,
      path,
      record: record.id,
      message: `The record seems to hold a secret (${rule}).`,
      hint: 'Change the secret: it has been shared. Then take the record out of the branch before it is merged.',
    }));
  });
}
