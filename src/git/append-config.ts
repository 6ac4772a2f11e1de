import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../core/error-code.ts';
import type { RepositoryDirs } from './discover.ts';

/**
 * What `git config --local` does for a key that is not there yet, without a process: a section more at the end of the file, under git's
 * own lock. False where git has to do it, or to say why it cannot be done.
 */
export function appendConfig({ commonDir }: RepositoryDirs, key: string, value: string): boolean {
  const [section, name, ...more] = key.split('.');
  if (!section || !name || more.length > 0 || ![section, name, value].every((each) => PLAIN.test(each))) return false;
  const file = join(commonDir, 'config');
  const lock = `${file}.lock`;
  let isOurs = false;
  try {
    const { mode } = lstatSync(file);
    writeFileSync(lock, '', { flag: 'wx' });
    isOurs = true;
    const text = readFileSync(file, 'latin1');
    if (!lstatSync(file).isFile() || /\\\r?\n?$/.test(text)) return false;
    const gap = text === '' || text.endsWith('\n') ? '' : '\n';
    writeFileSync(lock, `${text}${gap}[${section}]\n\t${name} = ${value}\n`, 'latin1');
    chmodSync(lock, mode & 0o7777);
    renameSync(lock, file);
    isOurs = false;
    return true;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return false;
  } finally {
    if (isOurs) rmSync(lock, { force: true });
  }
}

/** Needs no quotes, and no file means anything else by it. */
const PLAIN = /^[A-Za-z0-9]+$/;
