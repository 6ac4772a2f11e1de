import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeStaged } from '../../src/hooks/staged-records.ts';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { emptyPlace, type Place, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { BATON, START, session } from './scenario.ts';

const place = template();

async function staged({ dir, env }: Place): Promise<string[]> {
  git(dir, 'add', '--all');
  const repository = openRepositoryAt(dir, { env, host: nodeHost });
  try {
    return (await judgeStaged(repository)).map(
      ({ code, path }) => `${code} ${path!.slice(path!.lastIndexOf('/') + 1)}`,
    );
  } finally {
    await repository.close();
  }
}

test('records that hold may be committed, and code without a thought too', async () => {
  const here = place();
  writeSession(here, [START, BATON]);
  writeBytes(here.dir, 'src/a.ts', 'a\n');
  expect(await staged(here)).toEqual([]);
});

test('a record that was changed, and one that was deleted, may not', async () => {
  const here = place();
  const [start, baton] = session(here, [START, BATON]);
  writeBytes(here.dir, baton!.path, readFileSync(join(here.dir, baton!.path), 'utf8').replace('done', 'gone'));
  git(here.dir, 'rm', '--quiet', start!.path);
  expect(await staged(here)).toEqual(['record_deleted 0001-start.yaml', 'record_changed 0002-baton.md']);
});

test('a record that does not hold may not', async () => {
  const here = place();
  const [start] = writeSession(here, [START, BATON]);
  writeBytes(here.dir, start!.path, readFileSync(join(here.dir, start!.path), 'utf8').replace('donna', 'erinn'));
  expect(await staged(here)).toContain('path_mismatch 0001-start.yaml');
});

test('what was wrong before does not stand in the way of what is right', async () => {
  const here = place();
  const [, baton] = session(here, [START, BATON]);
  writeBytes(here.dir, baton!.path, 'spoilt');
  git(here.dir, 'commit', '--quiet', '--all', '--no-verify', '--message', 'spoilt');
  writeSession(here, [START, BATON]);
  expect(await staged(here)).toEqual([]);
});

test('a record that the last commit changed may have its bytes again, and no others', async () => {
  const here = place();
  const [, baton] = session(here, [START, BATON]);
  const signed = readFileSync(join(here.dir, baton!.path), 'utf8');
  writeBytes(here.dir, baton!.path, 'spoilt');
  git(here.dir, 'commit', '--quiet', '--all', '--no-verify', '--message', 'spoilt');
  writeBytes(here.dir, baton!.path, 'other');
  expect(await staged(here)).toEqual(['record_changed 0002-baton.md']);
  writeBytes(here.dir, baton!.path, signed);
  expect(await staged(here)).toEqual([]);
});

test('the commit that brings the policy is judged whole', async () => {
  const here = emptyPlace();
  await here.handoff.init({ commit: false });
  expect(await staged(here)).toEqual([]);
  writeBytes(here.dir, '.handoff/what', 'is this\n');
  expect(await staged(here)).toEqual(['path_mismatch what']);
});
