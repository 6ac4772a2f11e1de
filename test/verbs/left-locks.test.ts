import { spawnSync } from 'node:child_process';
import { linkSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import type { Handoff } from '../../src/index.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

const fresh = template();

/** What a process leaves that is killed right after its commit: git's lock, and the file that says whose it is. */
function leave({ dir }: Place): void {
  const dead = spawnSync(process.execPath, ['-e', '0']).pid;
  const left = join(dir, `.git/HEAD.handoff-${nodeHost.space}-${dead}-0123456789ab`);
  writeFileSync(left, '');
  linkSync(left, join(dir, '.git/HEAD.lock'));
}

const leftIn = ({ dir }: Place) => readdirSync(join(dir, '.git')).filter((name) => /^HEAD\./.test(name));

type Verb = (handoff: Handoff) => Promise<unknown>;

/** Each finds nothing to write: it is done, or refused. */
const IDLE: [string, Verb, Verb][] = [
  ['a seal that is there', (handoff) => handoff.seal(), (handoff) => handoff.seal()],
  ['a session that is open', async () => {}, (handoff) => handoff.start({ as: 'donna' })],
  [
    'a wrap that was done',
    (handoff) => handoff.wrap({ message: 'the end' }),
    (handoff) => handoff.wrap({ message: 'the end' }),
  ],
  [
    'a note in a session that is over',
    (handoff) => handoff.wrap({ message: 'the end' }),
    (handoff) => handoff.note({ as: 'donna', text: 'late' }),
  ],
  ['a pickup that is refused', async () => {}, (handoff) => handoff.pickup({ as: 'donna' })],
];

it.each(IDLE)('%s: the locks of one that was killed are cleared away all the same', async (_, before, verb) => {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  await before(place.handoff);
  leave(place);
  await verb(open(place).handoff).catch((error) => expect(error).toMatchObject({ exitCode: expect.any(Number) }));
  expect(leftIn(place)).toEqual([]);
  git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'git goes on');
});

it('what only reads leaves them where they are', async () => {
  const place = fresh();
  await place.handoff.start({ as: 'donna' });
  leave(place);
  const { handoff } = open(place);
  await handoff.status();
  await handoff.audit.verify();
  expect(leftIn(place)).toHaveLength(2);
});
