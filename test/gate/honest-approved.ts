import { git } from '../temporary.ts';
import { above, approve, below } from './attacks-unlisted.ts';
import { edited } from './ground.ts';
import { inReview, squash } from './landing.ts';
import { checkout, code, headOf, type Scenario, thoughtSince } from './scenario.ts';

/** Everything was looked at, if not all at once. */
export const APPROVED: Scenario[] = [
  {
    name: 'two commits to one file, each approved by itself',
    async build(place) {
      below(place);
      approve(place, [await thoughtSince(place, 'main')], 20);
      approve(place, [await above(place)], 60);
    },
  },
  {
    name: 'two commits to one file, each approved by itself, and squashed',
    async build(place) {
      below(place);
      approve(place, [await thoughtSince(place, 'main')], 20);
      approve(place, [await above(place)], 60);
      git(place.dir, 'branch', 'before', 'main');
      squash(place);
      return { base: 'before', ...inReview(place) };
    },
  },
  {
    name: 'a thought about all of a branch that has merged main, conflict and all',
    async build(place) {
      below(place);
      checkout(place, 'main');
      code(place, { 'src/app.ts': edited({ 2: 'main\n' }) });
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-commit', '--strategy=ours', 'main');
      code(place, { 'src/app.ts': edited({ 2: 'both\n' }) }, 'merge');
      approve(place, [await thoughtSince(place, 'main')], 40);
    },
  },
  {
    name: 'a branch that was squashed, and goes on with what is approved by itself',
    async build(place) {
      below(place);
      approve(place, [await thoughtSince(place, 'main')], 20);
      squash(place);
      checkout(place, 'feature');
      approve(place, [await above(place)], 60);
    },
  },
  {
    name: 'a thought about the merge of main, conflict and all, and one commit more',
    async build(place) {
      below(place);
      approve(place, [await thoughtSince(place, 'main')], 20);
      const begun = headOf(place.dir);
      checkout(place, 'main');
      code(place, { 'src/app.ts': edited({ 2: 'main\n' }) });
      checkout(place, 'feature');
      git(place.dir, 'merge', '--quiet', '--no-commit', '--strategy=ours', 'main');
      code(place, { 'src/app.ts': edited({ 2: 'both\n' }) }, 'merge');
      code(place, { 'src/lib.ts': 'more\n' });
      approve(place, [await thoughtSince(place, begun)], 60);
    },
  },
];
