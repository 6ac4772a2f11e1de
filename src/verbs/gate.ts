import type { Source } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import { hasPolicy, loadTrust } from '../audit/trust.ts';
import { type Finding, hinting } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { type Changes, openChanges } from '../git/changes.ts';
import { type Range, readNearRange, readRange } from '../git/range.ts';
import { isNullOid, noSuchRevision, type Oid } from '../git/store.ts';
import { judge } from './gate-judge.ts';
import { answer, type GateResult } from './gate-result.ts';
import { checkRollbacks, seenTrust, tryPinRoot } from './pins.ts';
import { assertPinned, assertRoot, type Repository } from './repository.ts';

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
  const changes = openChanges(repository.git, ROOT); // it gets ready while the records are read
  try {
    return await judgeEnds(repository, options, changes);
  } finally {
    await changes.close();
  }
}

async function judgeEnds(repository: Repository, options: GateOptions, changes: Changes): Promise<GateResult> {
  const [ends] = await Promise.all([resolveEnds(repository, options), repository.config()]);
  if (await repository.store.isShallow()) return answer(ends, 0, null, [shallow()]);
  const [range, ground] = await Promise.all([rangeOf(repository, ends), readGround(repository, ends.base)]);
  if (!ground) return judgeFirst(repository, ends, range, options.root);
  const { before, trust, findings } = ground;
  if (!trust) return answer(ends, range.commits.length, null, findings);
  await assertPinned(repository, trust.repoId, options.root);
  if (options.root === undefined) await tryPinRoot(repository, trust.repoId, false);
  const base = ends.base!; // a policy was there
  const rollbacks = await checkRollbacks(repository, seenTrust(trust), base, false);
  const { replaces = false } = options;
  return judge(repository, { ...ends, base, before, trust, range, changes, replaces }, rollbacks);
}

async function rangeOf({ git, store }: Repository, { base, head, known }: Ends): Promise<Range> {
  const near = base === null || known.length > 0 ? null : await readNearRange(store, head, base);
  return near ?? readRange(git, head, base === null ? [] : [base, ...known]);
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
    isNullOid(base) ? null : resolve(base).catch(hinting('usage', otherBase(base))),
    resolve(head),
    ...known.map(resolve),
  ]);
  return { base: from!, head: to!, known: judged as Oid[] };
}

const OF_REMOTE = /^(?:refs\/remotes\/)?[\w.-]+\/([\w./-]+)$/;

function otherBase(rev: string): string {
  const branch = OF_REMOTE.exec(rev)?.[1];
  if (branch === undefined) return 'git branch --all lists what there is.';
  return `git fetch brings what the remote has. Without a remote: --base ${branch}`;
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

function shallow(): Finding {
  return {
    code: 'shallow_repository',
    severity: 'error',
    message: 'The clone is shallow: what is new in it, and what was there before, cannot be told apart.',
    hint: 'git fetch --unshallow; in CI, fetch the whole history (fetch-depth: 0, GIT_DEPTH: 0).',
  };
}
