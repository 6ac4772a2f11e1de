import type { Trust } from '../core/trust/trust.ts';
import type { GitConfig } from '../git/config.ts';
import type { Oid } from '../git/objects/store.ts';
import { readGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings } from './parts.ts';

/** A protected branch as this clone knows it. */
export interface ProtectedTip {
  ref: string;
  oid: Oid;
}

export function protectedRefs({ policy }: Trust): string[] {
  return policy.rules.protected;
}

/** SPEC §11.4: two branches that both wrote to the ledger would fork it, so it grows on the first that is protected. */
export function ledgerRef(refs: readonly string[]): string {
  return refs[0] ?? NO_BRANCH;
}

/** A policy may protect nothing: then the ledger grows nowhere, and no branch is called so. */
export const NO_BRANCH = 'refs/heads/';

/** The remote-tracking refs of the protected branches, as far as there are any. */
export async function trackedTips(repository: GitAccess & Settings, trust: Trust): Promise<ProtectedTip[]> {
  const config = await repository.config();
  return presentRefs(
    repository,
    protectedRefs(trust).map((ref) => trackingRef(config, ref)),
  );
}

/**
 * Protected branches as their remote has them: what is only here may be thrown away again. Where no remote has one, as in a
 * bare repository that others push to, as they are here.
 */
export async function tipsThatHold(
  repository: GitAccess & Directories & Settings,
  refs: readonly string[],
): Promise<ProtectedTip[]> {
  const config = await repository.config();
  const isClone = repository.dirs.topLevel !== null; // into a bare one anybody may push a ref that looks like a remote's
  const tracked = isClone ? refs.map((ref) => trackingRef(config, ref)) : [];
  const tips = await presentRefs(repository, tracked);
  return tips.length > 0 ? tips : presentRefs(repository, refs);
}

/** The first protected branch that this clone has: as its remote has it, else as it is here. */
export async function protectedTip(repository: GitAccess & Settings, trust: Trust): Promise<ProtectedTip | null> {
  const config = await repository.config();
  const refs = protectedRefs(trust).flatMap((ref) => [trackingRef(config, ref), ref]);
  return (await presentRefs(repository, [...refs, 'HEAD']))[0] ?? null;
}

async function presentRefs(repository: GitAccess, refs: readonly (string | null)[]): Promise<ProtectedTip[]> {
  const tips: ProtectedTip[] = [];
  for (const ref of refs) {
    const oid = ref === null ? null : await tipOf(repository, ref);
    if (ref !== null && oid !== null) tips.push({ ref, oid });
  }
  return tips;
}

/** The commit that a ref of this clone is at, if there is such a ref. */
export async function tipOf({ store }: GitAccess, ref: string): Promise<Oid | null> {
  // `has` first: to be sure that a name names nothing, `resolve` asks another process
  return (await store.has(ref)) ? (await store.readCommit(ref)).oid : null;
}

/** Where git keeps what the remote has of a branch. */
export function trackingRef(config: GitConfig, ref: string): string | null {
  const branch = ref.slice('refs/heads/'.length);
  const remote = remoteOf(config, branch);
  return remote === '.' ? null : `refs/remotes/${remote}/${branch}`;
}

/** A branch's own remote, else `origin`, else the only one. */
export function remoteOf(config: GitConfig, branch: string): string {
  const remotes = remoteNames(config);
  const own = config.get(`branch.${branch}.remote`);
  return own ?? (remotes.includes('origin') || remotes.length !== 1 ? 'origin' : remotes[0]!);
}

/** Where the remotes, or one of them, had a branch when they were last heard of. Names with more parts are other branches. */
export async function trackingCommits({ git }: GitAccess, ref: string, remote = '*'): Promise<Oid[]> {
  const branch = ref.replace(/^refs\/heads\//, '');
  const args = ['for-each-ref', '--format=%(objectname)', `refs/remotes/${remote}/${branch}`];
  return (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
}

/** Where work is shared: the remote that takes locks, else `origin`, else whichever there is. */
export function sharedRemote(config: GitConfig): string | undefined {
  const names = remoteNames(config);
  return config.get('handoff.remote') ?? (names.includes('origin') ? 'origin' : names[0]);
}

/** Those that git fetches branches of. */
export function remoteNames(config: GitConfig): string[] {
  const names = config.keys().map((key) => /^remote\.(.+)\.fetch$/.exec(key)?.[1]);
  return names.filter((name) => name !== undefined);
}
