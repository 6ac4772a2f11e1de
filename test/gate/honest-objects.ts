import type { Place } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { LARGE, largeCommits } from './attacks-objects.ts';
import { mainMoves } from './landing.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  headOf,
  honestBranch,
  type Scenario,
  START,
  session,
  thoughtSince,
} from './scenario.ts';

/** The commit that HEAD is at with more in its header, and a thought for it. */
async function withHeader(place: Place, added: string): Promise<void> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const plain = git(place.dir, 'cat-file', 'commit', code(place, { 'src/a.ts': 'a\n' }));
  const bytes = `${plain.replace('\n\n', `\n${added}\n`)}\n`;
  git(place.dir, 'update-ref', 'HEAD', gitInput(place.dir, bytes, 'hash-object', '-t', 'commit', '-w', '--stdin'));
  await account(place, base);
}

async function account(place: Place, base: string): Promise<void> {
  session(place, [START, await thoughtSince(place, base), BATON], { clock: 30 });
}

/** Files by names as bytes, which a work tree need not be able to hold. */
function codeNamed({ dir }: Place, names: readonly Buffer[]): void {
  const oid = gitInput(dir, 'x\n', 'hash-object', '-w', '--stdin');
  const lines = names.flatMap((name) => [Buffer.from(`100644 ${oid} 0\tsrc/`), name, Buffer.of(0)]);
  gitInput(dir, Buffer.concat(lines), 'update-index', '-z', '--index-info');
  git(dir, 'commit', '--quiet', '--message', 'task: code');
}

/** Objects that are unusual, and that everybody reads alike. */
export const UNUSUAL: Scenario[] = [
  {
    name: 'a commit with a signature of several lines',
    build: (place) =>
      withHeader(place, 'gpgsig -----BEGIN SSH SIGNATURE-----\n parent x\n \n -----END SSH SIGNATURE-----\n'),
  },
  {
    name: 'a commit in another encoding',
    build: (place) => withHeader(place, 'encoding ISO-8859-1\n'),
  },
  {
    name: 'work on a main that has commits with very large messages',
    async build(place) {
      git(place.dir, 'reset', '--quiet', '--hard', largeCommits(place, Array<number>(3).fill(2 * LARGE)));
      await honestBranch(place);
      mainMoves(place, { 'src/b.ts': 'b\n' });
    },
  },
  {
    name: 'a commit with a message that is just not too large',
    async build(place) {
      git(place.dir, 'checkout', '--quiet', '--detach', largeCommits(place, [LARGE - 1000]));
      await honestBranch(place);
    },
  },
  {
    name: 'a merge of a tag, which it keeps a copy of',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      git(place.dir, 'tag', '--annotate', '--message', 'one\n\nparent x', 'v1');
      checkout(place, 'main');
      branch(place, 'release');
      git(place.dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'v1');
      await account(place, base);
      git(place.dir, 'tag', '--delete', 'v1');
    },
  },
  {
    name: 'files whose names are no UTF-8',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      codeNamed(place, [Buffer.from('caf\xe9', 'latin1'), Buffer.of(0xff), Buffer.from('ü')]);
      await account(place, base);
    },
  },
  {
    name: 'more commits than are read one by one',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const commits = Array.from({ length: 140 }, (_, n) =>
        [
          'commit refs/heads/feature',
          `committer Ada <ada@example.org> ${1767323045 + n} +0000`,
          'data 2\nx\n',
          n === 0 ? `from ${base}` : '',
          `M 100644 inline src/many.ts\ndata ${String(n).length + 1}\n${n}\n`,
        ]
          .filter((line) => line !== '')
          .join('\n'),
      );
      gitInput(place.dir, `${commits.join('\n')}\n`, 'fast-import', '--quiet', '--force');
      git(place.dir, 'reset', '--quiet', '--hard');
      await account(place, base);
    },
  },
];
