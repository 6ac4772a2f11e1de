import type { Evidence } from '../audit/evidence/evidence.ts';
import { type Account, toAccount } from '../core/writeback/account.ts';
import type { Oid } from '../git/objects/store.ts';

/** The thoughts that name one of these commits, or whose change, whole or commit by commit, has one of these patch ids. */
export async function accountsFor(
  evidence: Evidence,
  commits: Iterable<Oid>,
  patchIds: Iterable<string> = [],
): Promise<Account[]> {
  return (await evidence.thoughtsAbout(commits, patchIds)).map(toAccount);
}

/** Those of these commits that a maintainer has waived. */
export async function waivedAmong(evidence: Evidence, commits: Iterable<Oid>): Promise<Oid[]> {
  const waivers = await evidence.waiversOf(commits);
  return [...new Set(waivers.map(({ record }) => record.fields.commit_sha))];
}
