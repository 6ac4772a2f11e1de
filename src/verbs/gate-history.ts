import { readHistory } from '../audit/history.ts';
import { find, type Source } from '../audit/source.ts';
import { type Account, toAccount } from '../core/coverage.ts';
import { emptyHistory, type History } from '../core/history.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { ROOT } from '../core/paths.ts';
import { parseRecord } from '../core/record.ts';
import type { Trust } from '../core/trust.ts';
import { recordId, type VerifiedRecord } from '../core/verify.ts';
import { nodeSuite } from '../crypto.ts';
import type { Range } from '../git/range.ts';
import { cacheFolder, type Repository } from './repository.ts';

/** What was known before: read from what was added since it was last read. */
export async function historyOf(repository: Repository, source: Source, trust: Trust): Promise<History> {
  if (!(await find(source, `${ROOT}/sessions`))) return emptyHistory();
  const folder = repository.build === null ? null : cacheFolder(repository, 'history');
  const options = { suite: nodeSuite, cacheFolder: folder, onProgress: repository.progress };
  return (await readHistory(source, trust, options)).history;
}

/** Thoughts of earlier changes about commits of this one. The history has verified them, and their id tells that these are their bytes. */
export async function olderAccounts(source: Source, { tasks }: History, { commits }: Range): Promise<Account[]> {
  const known = new Set(commits.map(({ oid }) => oid));
  const thoughts = Object.values(tasks).flatMap((trail) => trail.thoughts.filter(({ commit }) => known.has(commit)));
  const accounts: Account[] = [];
  for (const { path, delta_id } of thoughts) {
    const entry = await find(source, path);
    if (!entry) continue;
    const record = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
    if (recordId(record.signedBytes, nodeSuite) !== delta_id) continue;
    accounts.push(toAccount({ path, record: { ...record, id: delta_id } as VerifiedRecord }));
  }
  return accounts;
}
