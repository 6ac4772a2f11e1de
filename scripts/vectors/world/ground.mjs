import { identity, POLICY, task } from './documents.mjs';
import { baton, note, session, start } from './sessions.mjs';

// What is there before anybody begins.

const LINES = Array.from({ length: 40 }, (_, at) => `line ${at}\n`);

/** Forty lines, some of them changed. */
export function lines(changes = {}) {
  return LINES.map((line, at) => (changes[at] === undefined ? line : `${changes[at]}\n`)).join('');
}

export const IDENTITIES = {
  ...identity('ada', { role: 'maintainer' }),
  ...identity('donna'),
  ...identity('con-1'),
};
export const CODE = {
  'README.md': 'read me\n',
  'docs/guide.md': 'guide\n',
  'src/app.ts': lines(),
  'src/lib.ts': 'lib\n',
};
export const STORY = session('a story', [start(), note('hi'), baton()]);
export const GROUND = {
  ...POLICY,
  ...IDENTITIES,
  ...task('P0.1'),
  ...task('P0.2', { more: 'proof: seal\n' }),
  ...STORY.files,
};
