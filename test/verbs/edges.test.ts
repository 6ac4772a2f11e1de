import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatPublicKey } from '../../src/core/trust/sshsig.ts';
import { readPublicKey } from '../../src/core/trust/trust.ts';
import { nodeSuite } from '../../src/crypto.ts';
import { emptyPlace, initialised, openPlace } from '../handoff.ts';
import { git } from '../temporary.ts';
import { open } from './agents.ts';

it('a key of small order, or with a second spelling, is signed in by nobody', () => {
  const weak = ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(30)}7f`];
  for (const hex of weak) {
    const line = formatPublicKey(new Uint8Array(Buffer.from(hex, 'hex')));
    expect(() => readPublicKey(line, nodeSuite)).toThrow(/small order/);
  }
});

it('a project has a name of one line', async () => {
  await expect(emptyPlace().handoff.init({ name: 'a\nb' })).rejects.toMatchObject({ code: 'usage' });
});

it('what is left out is no revision', async () => {
  const place = await initialised();
  await expect(place.handoff.verify({ rev: '^HEAD' })).rejects.toMatchObject({ code: 'usage' });
});

it('a repository that was moved is still in its session', async () => {
  const place = await initialised();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  renameSync(place.dir, `${place.dir}-moved`);
  const moved = openPlace(`${place.dir}-moved`, place.keys, place.root);
  await moved.handoff.note({ as: 'donna', text: 'here' });
  expect((await moved.handoff.start({ as: 'donna' })).session_id).toBe(session_id);
});

it('a sparse checkout without .handoff works by what HEAD has', async () => {
  const place = await initialised();
  git(place.dir, 'sparse-checkout', 'set', '--no-cone', '/*', '!/.handoff/');
  expect(existsSync(join(place.dir, '.handoff'))).toBe(false);
  const { session_id } = await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ text: 'from afar' });
  await place.handoff.wrap({ message: 'done' });
  expect((await place.handoff.verify()).valid).toBe(true);
  expect(await place.handoff.pickup({ as: 'donna' })).toMatchObject({ predecessor_session_id: session_id });
});

it("a file whose name is no UTF-8 is nobody's hindrance", async () => {
  const place = await initialised();
  for (const folder of ['', '.handoff/'])
    writeFileSync(Buffer.concat([Buffer.from(`${place.dir}/${folder}`), Buffer.from([0x6e, 0xff, 0xfe])]), '');
  await place.handoff.start({ as: 'donna' });
  await place.handoff.note({ text: 'all the same' });
  await place.handoff.task.add({ id: 'P1', title: 'first' });
  expect((await open(place).handoff.task.list()).tasks).toHaveLength(1);
  expect(await open(place).handoff.status()).toMatchObject({ identity: 'donna' });
});

it('a pipe where a policy should be is not waited for', async () => {
  const place = await initialised();
  const policy = join(place.dir, '.handoff/policy/0001.yaml');
  rmSync(policy);
  execFileSync('mkfifo', [policy]);
  await expect(place.handoff.status()).rejects.toMatchObject({ code: 'not_initialised' });
});

it('where no state can be kept, everything is verified all the same', async () => {
  const place = await initialised();
  const file = join(place.dir, 'a-file');
  writeFileSync(file, '');
  const { handoff } = open(place, { env: { HANDOFF_STATE: file } });
  expect((await handoff.verify()).valid).toBe(true);
});

it.each(['worktree', 'opener'])('a session that does not say its %s is no crash', async (key) => {
  const place = await initialised();
  const { session_id } = await place.handoff.start({ as: 'donna' });
  const path = join(place.dir, '.git/handoff/sessions', session_id, 'session.json');
  const { [key]: _, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(rest));
  await expect(place.handoff.status({ as: 'donna' })).rejects.toMatchObject({ code: 'io', exitCode: 4 });
});
