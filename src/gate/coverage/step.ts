import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import { readGit } from '../../git/run.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Step } from './anchors.ts';
import type { Comparer } from './comparer.ts';
import type { SingleCommit } from './repeats.ts';

/** How many more commits than a thought lists are looked at: others may have been merged in between. */
const MORE = 256;

const NOT_HERE: Step = { isHere: false, commits: new Map(), isAhead: async () => false };

/** Reads what thoughts are about from the commits they name, each once, as far as those are here. */
export function openSteps(
  repository: Repository,
  { changes }: Comparer,
  known: readonly Oid[],
): (account: Account) => Promise<Step> {
  const { git, store } = repository;
  const steps = new Map<Account, Promise<Step>>(); // two thoughts may name one commit, and begin at different ones
  const read = async ({ commit, commitPatchIds }: Account): Promise<Step> => {
    if (!(await store.has(`${commit}^{commit}`))) return NOT_HERE;
    const count = `--max-count=${commitPatchIds.size + MORE}`;
    const args = ['rev-list', '--topo-order', '--no-merges', '--parents', count, commit, '--not', ...known, '--'];
    const lines = (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
    const commits = lines.map((line) => line.split(' ')).map(([oid, ...parents]) => ({ oid: oid!, parents }));
    const patches = await changes.read(commits.map(({ oid }) => ({ commit: oid })));
    const byPatchId = new Map<string, SingleCommit[]>();
    for (const [at, each] of commits.entries()) {
      const patchId = patches[at]!.patchId ?? '';
      if (commitPatchIds.has(patchId)) byPatchId.set(patchId, [...(byPatchId.get(patchId) ?? []), each]);
    }
    return { isHere: true, commits: byPatchId, isAhead: await aheadOf(repository, commit, known) };
  };
  return (account) => {
    const step = steps.get(account) ?? read(account);
    steps.set(account, step);
    return step;
  };
}

/**
 * Whether a commit was put on something that has all that the thought's commit shares with these. Where it has not, merging brings
 * what these had then along, which they may have taken back since; and picking leaves out what was there then.
 */
async function aheadOf(repository: Repository, commit: Oid, known: readonly Oid[]): Promise<Step['isAhead']> {
  const shared = (await Promise.all(known.map((oid) => repository.store.mergeBases(commit, oid)))).flat();
  const answers = new Map<Oid, Promise<boolean>>();
  const hasAll = async (parent: Oid) => shared.length > 0 && (await notBehind(repository, parent, shared)).size === 0;
  return async ({ parents: [parent] }) => {
    if (parent === undefined) return false;
    const answer = answers.get(parent) ?? hasAll(parent);
    answers.set(parent, answer);
    return answer;
  };
}

/** Those of some commits that are here, and that another one does not have behind it. */
export async function notBehind({ git, store }: Repository, base: Oid, commits: readonly Oid[]): Promise<Set<Oid>> {
  const here: Oid[] = [];
  for (const oid of new Set(commits)) if (await store.has(`${oid}^{commit}`)) here.push(oid);
  if (here.length === 0) return new Set();
  const input = [...here, `^${base}`].map((rev) => `${rev}\n`).join('');
  const out = (await readGit(git, ['rev-list', '--stdin'], { input })).toString('latin1');
  const listed = new Set(out.split('\n'));
  return new Set(here.filter((oid) => listed.has(oid)));
}
