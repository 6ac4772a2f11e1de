import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../journal/absent.ts';
import type { Repository } from './repository.ts';

/** Where the work tree stands. */
export interface Position {
  /** Null when HEAD is detached. */
  branch: string | null;
  /** Null on an unborn branch. */
  head: string | null;
}

export async function readPosition({ dirs, store }: Repository): Promise<Position> {
  const text = (await readFile(join(dirs.gitDir, 'HEAD'), 'utf8').catch(absent)) ?? '';
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(text)?.[1] ?? null;
  return { branch, head: await store.resolve('HEAD') };
}

/** As records hold it. */
export function positionFields({ branch, head }: Position): { branch?: string; head: string | null } {
  return { ...(branch === null ? {} : { branch }), head };
}
