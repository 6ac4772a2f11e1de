import type { Holder } from '../../src/journal/locks/holder.ts';

/** What a lock, signed or not, may say where an id belongs. None of it may reach a path or a command. */
export const HOSTILE_IDS = [
  '$(touch pwned)',
  '`touch pwned`',
  '; touch pwned',
  "'; touch pwned; '",
  '" && touch pwned && "',
  '../../../evil',
  '..',
  '.',
  '/etc/passwd',
  'C:\\evil',
  '--force',
  '-C/tmp',
  'a b',
  'a\nb',
  'a\u0000b',
  '\u202egnp.exe',
  'x'.repeat(300),
  '7C1F0000-0000-4000-8000-000000000000',
  '7c1f0000-0000-4000-8000-000000000000/..',
  '7c1f0000-0000-4000-8000-000000000000\n',
  '7c1f0000000040008000000000000000',
  '{}',
];

export const HOLDER: Holder = {
  session_id: '7c1f0000-0000-4000-8000-000000000000',
  identity: 'ada',
  at: '2026-02-20T14:30:25.123Z',
  host: 'a-host',
};

/** Holders that none could be, each with what is wrong about it. */
export const FORGED_HOLDERS: [string, unknown][] = [
  ...HOSTILE_IDS.map((session_id): [string, unknown] => [`session ${session_id}`, { ...HOLDER, session_id }]),
  ...HOSTILE_IDS.filter((id) => !/^[0-9a-f]{32}$/.test(id)).map((identity): [string, unknown] => [
    `identity ${identity}`,
    { ...HOLDER, identity },
  ]),
  ['no time', { ...HOLDER, at: 'yesterday; touch pwned' }],
  ['a number for a host', { ...HOLDER, host: 1 }],
  ['an object for a reason', { ...HOLDER, reason: {} }],
  ['no session', { identity: 'ada', at: HOLDER.at, host: 'x' }],
  ['no holder', null],
  ['a list', []],
];
