import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { type LockRemote, type RemoteHold, readRemoteHold } from '../../src/journal/locks/remote-locks.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { bundle, KEY, remotes } from './remote-fixture.ts';

const CONTENDERS = 20;
const NAME = 'task/P0.1.1';
const slow = process.env.HANDOFF_SLOW === '1';
const ROUNDS = slow ? 20 : 1;
if (!slow) console.log('The race runs one round; HANDOFF_SLOW=1 runs 20.');

test(`of ${CONTENDERS} processes that want the same number at once, one gets it`, { timeout: 600_000 }, async () => {
  const { bare, clones } = remotes(CONTENDERS);
  const module = {
    locks: pathToFileURL(bundle('journal/locks/remote-locks.ts')).href,
    keys: pathToFileURL(bundle('journal/keys/keys.ts')).href,
  };
  for (let number = 1; number <= ROUNDS; number++) {
    const answers = await race(module, clones, await readRemoteHold(clones[0]!, NAME));
    expect(answers.filter((answer) => answer !== 'lost')).toEqual(['taken']);
    const winner = `clone-${answers.indexOf('taken')}`;
    expect(await readRemoteHold(clones[0]!, NAME)).toMatchObject({ number, holder: { host: winner } });
  }
  expect(git(bare, 'for-each-ref').split('\n')).toHaveLength(ROUNDS);
});

interface Modules {
  locks: string;
  keys: string;
}

/** All of them are started and wait; then all are let go. */
async function race(module: Modules, clones: readonly LockRemote[], prior: RemoteHold | null): Promise<string[]> {
  const children = clones.map(({ git: { dir } }, i) => contender(module, dir, `clone-${i}`, prior));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const answers = children.map(answerOf);
  for (const child of children) child.stdin.end('go');
  return Promise.all(answers);
}

function contender(
  module: Modules,
  dir: string,
  host: string,
  prior: RemoteHold | null,
): ChildProcessWithoutNullStreams {
  const holder = {
    session_id: '7c1f0000-0000-4000-8000-000000000000',
    identity: 'ada',
    at: '2026-02-20T14:30:25.123Z',
    host,
  };
  const code = `
    import { createPrivateKey } from 'node:crypto';
    import { takeRemoteHold } from ${JSON.stringify(module.locks)};
    import { toSigner } from ${JSON.stringify(module.keys)};
    const signer = toSigner(createPrivateKey(${JSON.stringify(KEY.export({ format: 'pem', type: 'pkcs8' }))}));
    const trusting = { repo: 'a'.repeat(64), keysOf: async () => [signer.publicKey], signerOf: async () => signer };
    const remote = { git: { dir: ${JSON.stringify(dir)}, env: process.env }, name: 'origin', ...trusting };
    process.stdout.write('ready');
    for await (const _ of process.stdin);
    console.log(await takeRemoteHold(remote, ${JSON.stringify(NAME)}, ${JSON.stringify(prior)}, ${JSON.stringify(holder)}).catch(String));`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], { env: isolatedEnv });
}

async function answerOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk));
  await once(child, 'close');
  return out.trim();
}
