import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { Remote } from '../../src/git/remote.ts';
import { readRemoteHold } from '../../src/journal/remote-locks.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { bundle, remotes } from './remote-fixture.ts';

const CONTENDERS = 20;
const NAME = 'task/P0.1.1';
const slow = process.env.HANDOFF_SLOW === '1';
const ROUNDS = slow ? 20 : 1;
if (!slow) console.log('The race runs one round; HANDOFF_SLOW=1 runs 20.');

test(`of ${CONTENDERS} processes that want the same number at once, one gets it`, { timeout: 600_000 }, async () => {
  const { bare, clones } = remotes(CONTENDERS);
  const module = pathToFileURL(bundle('journal/remote-locks.ts')).href;
  for (let number = 1; number <= ROUNDS; number++) {
    const answers = await race(module, clones, number);
    expect(answers.filter((answer) => answer !== 'lost')).toEqual(['taken']);
    const winner = `clone-${answers.indexOf('taken')}`;
    expect(await readRemoteHold(clones[0]!, NAME)).toMatchObject({ number, holder: { host: winner } });
  }
  expect(git(bare, 'for-each-ref').split('\n')).toHaveLength(ROUNDS);
});

/** All of them are started and wait; then all are let go. */
async function race(module: string, clones: readonly Remote[], number: number): Promise<string[]> {
  const children = clones.map(({ git: { dir } }, i) => contender(module, dir, `clone-${i}`, number));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const answers = children.map(answerOf);
  for (const child of children) child.stdin.end('go');
  return Promise.all(answers);
}

function contender(module: string, dir: string, host: string, number: number): ChildProcessWithoutNullStreams {
  const holder = { session_id: 'x', identity: 'ada', at: '2026-02-20T14:30:25.123Z', host };
  const code = `
    import { takeRemoteHold } from ${JSON.stringify(module)};
    const remote = { git: { dir: ${JSON.stringify(dir)}, env: process.env }, name: 'origin' };
    process.stdout.write('ready');
    for await (const _ of process.stdin);
    console.log(await takeRemoteHold(remote, ${JSON.stringify(NAME)}, ${number}, ${JSON.stringify(holder)}).catch(String));`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], { env: isolatedEnv });
}

async function answerOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk));
  await once(child, 'close');
  return out.trim();
}
