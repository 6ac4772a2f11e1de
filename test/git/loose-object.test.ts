import fs, { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { writeLooseObject } from '../../src/git/objects/loose-object.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { withFs } from '../with-fs.ts';

function place() {
  const dir = temporaryDirectory();
  git('/', 'init', '--quiet', dir);
  const write = () => writeLooseObject(join(dir, '.git/objects'), 'sha1', 'blob', Buffer.from('hello\n'));
  return { dir, write, object: join(dir, '.git/objects/ce/013625030ba8dba906f756967f9e9ca394464a') };
}

/** Once, right before the first call of a function. */
function before<T extends (...args: never[]) => unknown>(real: T, happen: () => void): T {
  let isDone = false;
  return ((...args: Parameters<T>) => {
    if (!isDone) happen();
    isDone = true;
    return real(...args);
  }) as T;
}

it('an object is written although gc takes its empty folder away meanwhile', () => {
  const { dir, write, object } = place();
  const openSync = before(fs.openSync, () => rmSync(dirname(object), { recursive: true }));
  withFs({ openSync }, write);
  expect(git(dir, 'cat-file', 'blob', 'ce013625030ba8dba906f756967f9e9ca394464a')).toBe('hello');
});

it('one that gc drops just when it is to be kept is written anew', () => {
  const { write, object } = place();
  write();
  const bytes = readFileSync(object);
  withFs({ utimesSync: before(fs.utimesSync, () => rmSync(object)) }, write);
  expect(readFileSync(object)).toEqual(bytes);
});
