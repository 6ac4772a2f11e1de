import { chmodSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discoverRepository } from '../../src/git/discover.ts';
import { footprintOf } from '../../src/git/index/index-footprint.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { commit, history } from './fixture.ts';

function take(dir: string) {
  return footprintOf(discoverRepository(dir, isolatedEnv), dir, '.handoff');
}

function repository(...init: string[]): string {
  const dir = history(join(temporaryDirectory(), 'r'), ...init);
  commit(dir, { '.handoff/a.md': 'ours\n', 'src/b.ts': 'one\n' });
  return dir;
}

/** Whether it is the same before and after. */
function staysSame(dir: string, meanwhile: () => unknown): boolean {
  const before = take(dir);
  meanwhile();
  expect([typeof before, typeof take(dir)]).toEqual(['string', 'string']);
  return before === take(dir);
}

describe('a footprint', () => {
  it.each(['sha1', 'sha256'])('is the same where nobody writes what git keeps track of: %s', (format) => {
    const dir = repository(`--object-format=${format}`);
    const others = () => {
      git(dir, 'status');
      writeFileSync(join(dir, 'untracked'), 'x');
      writeFileSync(join(dir, '.handoff/a.md'), 'ours as well\n');
    };
    expect(staysSame(dir, others)).toBe(true);
  });

  const WRITES: Record<string, (dir: string) => unknown> = {
    'other bytes': (dir) => writeFileSync(join(dir, 'src/b.ts'), 'two\n'),
    'the same bytes': (dir) => writeFileSync(join(dir, 'src/b.ts'), 'one\n'),
    'other bytes with the times of the old ones': (dir) => {
      utimesSync(join(dir, 'src/b.ts'), 1e9, 1e9);
      git(dir, 'update-index', '--refresh');
      const before = take(dir);
      writeFileSync(join(dir, 'src/b.ts'), 'two\n');
      utimesSync(join(dir, 'src/b.ts'), 1e9, 1e9);
      expect(take(dir)).not.toBe(before);
    },
    'a mode': (dir) => chmodSync(join(dir, 'src/b.ts'), 0o755),
    'a file that is gone': (dir) => rmSync(join(dir, 'src/b.ts')),
    'a folder that is another one': (dir) => {
      renameSync(join(dir, 'src'), join(dir, 'other'));
      git(dir, 'restore', 'src');
    },
    'a link in its place': (dir) => {
      rmSync(join(dir, 'src/b.ts'));
      symlinkSync('../note.md', join(dir, 'src/b.ts'));
    },
    'what is staged': (dir) =>
      git(dir, 'update-index', '--add', '--cacheinfo', `100644,${git(dir, 'rev-parse', 'HEAD:note.md')},c`),
  };

  it.each(Object.keys(WRITES))('is another one after somebody wrote %s', (what) => {
    const dir = repository();
    expect(staysSame(dir, () => WRITES[what]!(dir))).toBe(false);
  });

  const ODD: Record<string, (dir: string) => unknown> = {
    'an index of another version': (dir) => git(dir, 'update-index', '--index-version', '4'),
    'a split index': (dir) => git(dir, 'update-index', '--split-index'),
    'no index': (dir) => rmSync(join(dir, '.git/index')),
    'a submodule': (dir) => git(dir, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`),
    'a clock that tells whole seconds': (dir) => {
      const now = Math.floor(Date.now() / 1000);
      utimesSync(join(dir, 'src/b.ts'), now, now);
    },
  };

  it.each(Object.keys(ODD))('cannot be taken: %s', (kind) => {
    const dir = repository();
    ODD[kind]!(dir);
    expect(take(dir)).toBeNull();
  });
});
