import type { Draft, Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { edited } from './ground.ts';
import { inReview, squash } from './landing.ts';
import { branch, checkout, code, headOf, merge, policy, type Scenario, thoughtSince } from './scenario.ts';
import { REVIEW, told, verdictOn, WORK } from './tasks.ts';

// Who approves a thought has looked at the commits that it lists. What these stand on is another matter, also in the same file.

const EVIL = { 'src/app.ts': edited({ 2: 'evil\n' }) };
const BOTH = { 'src/app.ts': edited({ 2: 'evil\n', 30: 'good\n' }) };

/** A commit on a branch of its own. */
export function below(place: Place): string {
  policy(place, REVIEW);
  branch(place, 'feature');
  return code(place, EVIL);
}

/** One more commit to the same file, and a thought about that alone. */
export async function above(place: Place): Promise<Draft> {
  const base = headOf(place.dir);
  code(place, BOTH);
  return thoughtSince(place, base);
}

export function approve(place: Place, drafts: Draft[], clock: number): void {
  const written = told(place, drafts, { clock });
  told(
    place,
    written.map(({ id }) => verdictOn(id)),
    { clock: clock + 20, identity: 'erin' },
  );
}

async function refused(place: Place): Promise<void> {
  below(place);
  const [, thought] = told(place, [WORK, await thoughtSince(place, 'main')], { clock: 20 });
  told(place, [verdictOn(thought!.id, 'reject')], { clock: 30, identity: 'erin' });
}

/** Code that nobody approved, under a commit that somebody has. */
export const UNLISTED: Scenario[] = [
  {
    name: 'a commit that was refused, under one to the same file that was approved',
    expect: 'review_missing',
    async build(place) {
      await refused(place);
      approve(place, [await above(place)], 40);
    },
  },
  {
    name: 'a commit that no thought lists, under one to the same file that was approved',
    expect: 'review_missing',
    async build(place) {
      below(place);
      approve(place, [await above(place)], 40);
    },
  },
  {
    name: 'a thought about no code that names a commit with code, both approved',
    isVariant: true,
    expect: 'review_missing',
    async build(place) {
      const commit = below(place);
      const none: Draft = { ...(await thoughtSince(place, commit)), no_code: true };
      approve(place, [none, await above(place)], 40);
    },
  },
  {
    name: 'a squash of one that was refused and one that was approved',
    expect: 'review_missing',
    async build(place) {
      await refused(place);
      approve(place, [await above(place)], 40);
      git(place.dir, 'branch', 'before', 'main');
      squash(place);
      return { base: 'before', ...inReview(place) };
    },
  },
  {
    name: 'an approval that came first, and then what the commit stands on',
    expect: 'review_missing',
    async build(place) {
      below(place);
      const thought = await above(place);
      checkout(place, 'main');
      approve(place, [thought], 40);
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'the same patch at two places, and a thought that lists it once',
    isVariant: true,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      branch(place, 'feature');
      code(place, { 'src/log.ts': 'log\n'.repeat(9) });
      approve(place, [await thoughtSince(place, 'main')], 20);
      code(place, { 'src/log.ts': 'log\n'.repeat(10) });
      const base = headOf(place.dir);
      code(place, { 'src/log.ts': 'log\n'.repeat(11) });
      approve(place, [await thoughtSince(place, base)], 60);
    },
  },
  {
    name: 'what somebody decided in a merge, under a commit that was approved',
    isVariant: true,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      branch(place, 'feature');
      code(place, { 'src/mine.ts': 'mine\n' });
      approve(place, [await thoughtSince(place, 'main')], 20);
      checkout(place, 'main');
      code(place, { 'src/main.ts': 'main\n' });
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-commit', 'main');
      code(place, EVIL, 'merge');
      approve(place, [await above(place)], 60);
    },
  },
];
