import { git } from '../temporary.ts';
import { usual } from './ready.ts';
import type { Change, Scenario } from './scenario.ts';

/** The usual branch, asked for by these names. */
function asked(name: string, change: Change, prepare: (dir: string, base: string) => void = () => {}): Scenario {
  return {
    name,
    isLocal: true,
    async build(place) {
      const { base } = await usual(place);
      prepare(place.dir, base);
      return change;
    },
  };
}

/** Names that mean one thing, whatever else there is. */
export const NAMED_WELL: Scenario[] = [
  asked(
    'full names, beside tags that are called so',
    { base: 'refs/heads/main', head: 'refs/heads/feature' },
    (dir) => {
      for (const name of ['main', 'feature', 'HEAD', 'refs/heads/main'])
        git(dir, 'update-ref', `refs/tags/${name}`, 'HEAD');
    },
  ),
  asked('a branch by its short name', { base: 'main', head: 'feature' }),
  asked('a packed branch by its short name', { base: 'main', head: 'feature' }, (dir) => {
    git(dir, 'pack-refs', '--all');
  }),
  asked('a branch of a remote', { base: 'origin/main' }, (dir, base) => {
    git(dir, 'update-ref', 'refs/remotes/origin/main', base);
  }),
  asked('the branch that a remote begins with', { base: 'origin' }, (dir, base) => {
    git(dir, 'update-ref', 'refs/remotes/origin/main', base);
    git(dir, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  }),
  asked('what the branch is set up to follow', { base: '@{upstream}' }, (dir, base) => {
    git(dir, 'update-ref', 'refs/remotes/origin/main', base);
    git(dir, 'config', 'remote.origin.url', '/nowhere');
    git(dir, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
    git(dir, 'config', 'branch.feature.remote', 'origin');
    git(dir, 'config', 'branch.feature.merge', 'refs/heads/main');
  }),
  asked('a release by its tag', { base: 'v1' }, (dir, base) => {
    git(dir, 'tag', '--annotate', '--message', 'one', 'v1', base);
  }),
  asked('half of a name', { base: 'heads/main' }),
  asked('a branch whose name could be an id', { base: 'cafe' }, (dir, base) => {
    git(dir, 'branch', 'cafe', base);
  }),
];
