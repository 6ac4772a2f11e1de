import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { branch, type Change, code, headOf, type Scenario } from './scenario.ts';

const UNLISTED = ['files_uncovered', 'writeback_missing'];

interface Evil {
  good: string;
  bad: string;
}

/** Evil code on a branch, and refs that whoever pushed it may have pushed as well. */
function named(
  name: string,
  expected: string | string[],
  build: (place: Place, evil: Evil) => Change,
  threat = 53,
): Scenario {
  return {
    name,
    threat,
    expect: expected,
    isLocal: true,
    build(place) {
      const good = headOf(place.dir);
      branch(place, 'feature');
      return build(place, { good, bad: code(place, { 'src/evil.ts': 'evil\n' }) });
    },
  };
}

/** git itself would not make one of these by that name, and takes them from a remote. */
function ref({ dir }: Place, name: string, oid: string): void {
  const path = join(dir, '.git', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${oid}\n`);
}

/** Names that somebody else has given another meaning: THREATS 53. */
export const NAMED_LIKE: Scenario[] = [
  named('a tag called like the protected branch', 'usage', (place, { bad }) => {
    git(place.dir, 'tag', 'main', bad);
    return { base: 'main' };
  }),
  named('a tag called like the branch of the remote', 'usage', (place, { good, bad }) => {
    ref(place, 'refs/remotes/origin/main', good);
    git(place.dir, 'tag', 'origin/main', bad);
    return { base: 'origin/main' };
  }),
  named('a tag of several levels, packed', 'usage', (place, { bad }) => {
    git(place.dir, 'tag', '--annotate', '--message', 'x', 'main', bad);
    git(place.dir, 'pack-refs', '--all');
    return { base: 'main~0' };
  }),
  named('a branch called like that of the remote', 'usage', (place, { good, bad }) => {
    ref(place, 'refs/remotes/origin/main', good);
    git(place.dir, 'update-ref', 'refs/heads/origin/main', bad);
    return { base: 'origin/main' };
  }),
  named('a remote called like the protected branch', 'usage', (place, { bad }) => {
    ref(place, 'refs/remotes/main/HEAD', bad);
    return { base: 'main' };
  }),
  named('a tag by the full name of a branch that was not fetched', 'unknown_commit', (place, { bad }) => {
    git(place.dir, 'update-ref', 'refs/tags/refs/remotes/origin/main', bad);
    return { base: 'refs/remotes/origin/main' };
  }),
  named('a branch by the full name of the protected one', UNLISTED, (place, { bad }) => {
    git(place.dir, 'update-ref', 'refs/heads/refs/heads/main', bad);
    return { base: 'refs/heads/main' };
  }),
  named('a branch called by the id of the base', UNLISTED, (place, { good, bad }) => {
    ref(place, `refs/heads/${good}`, bad);
    return { base: good };
  }),
  named('a branch called by the first digits of the base', 'usage', (place, { good, bad }) => {
    ref(place, `refs/heads/${good.slice(0, 10)}`, bad);
    return { base: good.slice(0, 10) };
  }),
  named('a tag called HEAD', UNLISTED, (place, { good }) => {
    git(place.dir, 'update-ref', 'refs/tags/HEAD', good);
    return { base: 'refs/heads/main' };
  }),
  named('a tag called HEAD, on a branch without a commit', 'unknown_commit', (place, { bad }) => {
    git(place.dir, 'update-ref', 'refs/tags/HEAD', bad);
    git(place.dir, 'symbolic-ref', 'HEAD', 'refs/heads/nothing-yet');
    return { base: 'HEAD', head: bad };
  }),
  named('a tag called like the head', 'usage', (place, { good }) => {
    git(place.dir, 'tag', 'feature', good);
    return { base: 'refs/heads/main', head: 'feature' };
  }),
];
