import { writeRaw } from '../git/hostile.ts';
import type { Place } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { alterTree, blob } from '../threats/forge.ts';
import { edited } from './ground.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  headOf,
  IN_PROGRESS,
  merge,
  type Scenario,
  START,
  session,
  thoughtSince,
} from './scenario.ts';

/** A commit object as nobody's git would write it. */
function rawCommit({ dir }: Place, text: string): string {
  return gitInput(dir, text, 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin');
}

type Rewrite = (header: string, hidden: string) => string;

/**
 * Evil code on a branch of its own, and a commit with a thought whose header names that code in a way that one reader takes for
 * a parent and another does not: what the thought's commit descends from counts as covered. Then both are merged.
 */
function hiding(name: string, rewrite: Rewrite, isVariant = false): Scenario {
  return {
    name,
    threat: 45,
    expect: 'bytes_invalid',
    isVariant,
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'evil');
      const hidden = code(place, { 'src/app.ts': edited({ 35: 'evil\n' }) });
      checkout(place, 'main');
      branch(place, 'feature');
      const plain = code(place, { 'src/app.ts': edited({ 2: 'good\n' }) });
      const draft = await thoughtSince(place, base, plain);
      const whole = git(place.dir, 'cat-file', 'commit', plain);
      const end = whole.indexOf('\n\n') + 1;
      const forged = rawCommit(place, `${rewrite(whole.slice(0, end), hidden)}${whole.slice(end)}\n`);
      git(place.dir, 'update-ref', 'refs/heads/feature', forged);
      session(place, [START, IN_PROGRESS, { ...draft, commit_sha: forged }, BATON]);
      merge(place, 'evil');
    },
  };
}

const after =
  (line: RegExp, added: (hidden: string) => string): Rewrite =>
  (header, hidden) =>
    header.replace(line, (found) => found + added(hidden));

/** A thought that leaves out a file of this name, on a branch that main has gone on from. */
async function besideListed(place: Place, path: Buffer): Promise<void> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const oid = gitInput(place.dir, 'evil\n', 'hash-object', '-w', '--stdin');
  const line = Buffer.concat([Buffer.from(`100644 ${oid} 0\t`), path, Buffer.of(0)]);
  gitInput(place.dir, line, 'update-index', '-z', '--add', '--index-info');
  code(place, { 'src/a.ts': 'a\n' });
  session(place, [START, { ...(await thoughtSince(place, base)), files_changed: ['src/a.ts'] }, BATON]);
  git(place.dir, 'checkout', '--quiet', '--force', 'main');
  code(place, { 'src/b.ts': 'b\n' }, 'meanwhile');
  git(place.dir, 'checkout', '--quiet', '--force', 'feature');
}

/** More bytes than a commit may have. */
export const LARGE = 1024 * 1024;

/** Commits on main that change nothing, with messages of so many bytes. */
export function largeCommits({ dir }: Place, sizes: readonly number[], header = ''): string {
  const tree = git(dir, 'rev-parse', 'main^{tree}');
  const ident = 'Ada <ada@example.org> 1767323045 +0000';
  let head = git(dir, 'rev-parse', 'main');
  for (const size of sizes) {
    const text = `tree ${tree}\nparent ${head}\nauthor ${ident}\ncommitter ${ident}\n${header}\n${'a'.repeat(size)}\n`;
    head = writeRaw(dir, 'commit', Buffer.from(text));
  }
  return head;
}

const HEADERS: Scenario[] = [
  hiding(
    'a parent below the committer',
    after(/^committer .*\n/m, (oid) => `parent ${oid}\n`),
  ),
  hiding(
    'a parent between author and committer',
    after(/^author .*\n/m, (oid) => `parent ${oid}\n`),
    true,
  ),
  hiding(
    'a parent behind a signature',
    after(/^committer .*\n/m, (oid) => `gpgsig -\n x\nparent ${oid}\n`),
    true,
  ),
];

/** Objects that one reader takes for something else than another: THREATS 45. */
export const OBJECTS: Scenario[] = [
  ...HEADERS,
  {
    name: 'a file whose name is no UTF-8, under a thought for another',
    threat: 45,
    expect: 'files_uncovered',
    async build(place) {
      const base = headOf(place.dir);
      branch(place, 'feature');
      const [good, evil] = [0xfe, 0xff].map((byte) => ({
        mode: '100644',
        name: Buffer.from([byte]),
        oid: blob(place.dir, `${byte}\n`),
      }));
      const account = git(
        place.dir,
        'rev-parse',
        alterTree(place.dir, 'src', (entries) => [...entries, good!]),
      );
      const draft = await thoughtSince(place, base, account);
      git(
        place.dir,
        'reset',
        '--quiet',
        '--hard',
        alterTree(place.dir, 'src', (entries) => [...entries, evil!]),
      );
      session(place, [START, { ...draft, commit_sha: headOf(place.dir) }, BATON]);
    },
  },
  {
    name: 'a file whose name is no UTF-8 in a folder whose name is not ASCII, yet to be merged',
    threat: 45,
    expect: 'files_uncovered',
    build: (place) => besideListed(place, Buffer.from([...Buffer.from('src/é/'), 0xff])),
  },
  {
    name: 'the same the other way round',
    threat: 45,
    expect: 'files_uncovered',
    isVariant: true,
    build: (place) => besideListed(place, Buffer.from([...Buffer.from('src/'), 0xff, ...Buffer.from('/é')])),
  },
  {
    name: 'the same where the sign for what is no text stands in the name of the folder',
    threat: 45,
    expect: 'files_uncovered',
    isVariant: true,
    build: (place) => besideListed(place, Buffer.from([...Buffer.from('src/\ufffd/é/'), 0xff])),
  },
  {
    name: 'a parent that git does not see, at the end of many commits',
    threat: 45,
    expect: 'bytes_invalid',
    isVariant: true,
    build(place) {
      branch(place, 'feature');
      const tree = git(place.dir, 'rev-parse', 'HEAD^{tree}');
      const ident = 'Ada <ada@example.org> 1767323045 +0000';
      const base = headOf(place.dir);
      let head = base;
      for (let n = 0; n < 140; n++) {
        const late = n === 5 ? `parent ${base}\n` : '';
        const text = `tree ${tree}\nparent ${head}\nauthor ${ident}\ncommitter ${ident}\n${late}\n${n}\n`;
        head = writeRaw(place.dir, 'commit', Buffer.from(text));
      }
      return { head };
    },
  },
  {
    name: 'commits whose messages are larger than anybody reads, which take next to nothing in a push',
    threat: 66,
    expect: 'too_large',
    build: (place) => ({ head: largeCommits(place, [LARGE, LARGE]) }),
  },
  {
    name: 'the same behind many others',
    threat: 66,
    expect: 'too_large',
    isVariant: true,
    build: (place) => ({ head: largeCommits(place, [LARGE, ...Array<number>(140).fill(1)]) }),
  },
  {
    name: 'a commit with a header that is larger than anybody reads, merged in',
    threat: 66,
    expect: 'too_large',
    async build(place) {
      await usual(place);
      const large = largeCommits(place, [1], `x-pad ${'a'.repeat(LARGE)}\n`);
      git(place.dir, 'update-ref', 'refs/heads/large', large);
      merge(place, 'large');
    },
  },
  {
    name: 'a file whose name is a path into .handoff',
    threat: 45,
    expect: 'bytes_invalid',
    build(place) {
      branch(place, 'feature');
      const add = { mode: '100644', name: '.handoff/run.sh', oid: blob(place.dir, 'evil\n') };
      const head = alterTree(place.dir, '', (entries) => [...entries.slice(0, 1), add, ...entries.slice(1)]);
      return { head };
    },
  },
];
