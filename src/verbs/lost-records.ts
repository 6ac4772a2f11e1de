import { finding } from '../audit/finding.ts';
import type { Finding } from '../core/error.ts';
import { parseRecordName, ROOT } from '../core/paths.ts';
import { readGit } from '../git/run.ts';
import type { Repository } from './repository.ts';

/**
 * Records that HEAD has, and the work tree has not: the end of a chain is not missed by the rest of it. What a sparse checkout
 * leaves out is not lost, and only git knows that.
 */
export async function readLost({ git, store }: Repository): Promise<string[]> {
  const sessions = `${ROOT}/sessions`;
  if (!(await store.has(`HEAD:${sessions}`))) return [];
  const args = ['diff-index', '--name-only', '--diff-filter=D', '--no-renames', '-z', 'HEAD', '--', sessions];
  const paths = (await readGit(git, args)).toString('utf8').split('\0').slice(0, -1);
  return paths.filter((path) => {
    const names = path.split('/');
    return names.length === 5 && parseRecordName(names[4]!) !== null;
  });
}

export function lostFromHead(path: string): Finding {
  return finding('record_deleted', path, 'the record that HEAD has', 'nothing', `git restore -- ${path}`);
}
