import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isTaskId } from '../../core/names.ts';
import { guarded, replaceSynced } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import { parseState, type StateDirs, spoilt } from '../sessions/registry.ts';

/** A task whose lock a session has taken. Its records say so; whether it still holds it, the lock says. */
export interface Claim {
  task: string;
  token: number;
  at: string;
  /** Where a work tree was asked for: its branch, and its top. */
  branch?: string;
  worktree?: string;
}

/** The newest last. A file for each, so that two verbs of a session do not write over each other's. */
export function readClaims(dirs: StateDirs, id: string): Claim[] {
  const names = ifThere(() => readdirSync(claimsFolder(dirs, id))) ?? [];
  const claims = names.filter(isTaskId).map((name) => readClaim(dirs, id, name));
  return claims.filter((claim) => claim !== null).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

export function readClaim(dirs: StateDirs, id: string, task: string): Claim | null {
  const path = claimFile(dirs, id, task);
  const text = readStateText(path);
  const claim = text === null ? null : parseState<Claim>(text, path, ['task', 'at']);
  if (claim && claim.task !== task) throw spoilt(path);
  return claim;
}

export function writeClaim(dirs: StateDirs, id: string, claim: Claim): void {
  const path = claimFile(dirs, id, claim.task);
  guarded(path, () => replaceSynced(path, `${JSON.stringify(claim)}\n`));
}

export function dropClaim(dirs: StateDirs, id: string, task: string): void {
  const path = claimFile(dirs, id, task);
  guarded(path, () => rmSync(path, { force: true }));
}

function claimFile(dirs: StateDirs, id: string, task: string): string {
  return join(claimsFolder(dirs, id), task);
}

function claimsFolder(dirs: StateDirs, id: string): string {
  return join(dirs.sessions, id, 'claims');
}
