import { type Entry, FOLDER, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { identityPath, parsePolicyName, ROOT } from '../core/paths.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';

/**
 * Whether an older commit of the trunk has the trunk's policy, and each of its identities as the trunk has it. A branch is judged by
 * what it has: one that begins where a review was not asked for, or a key was not revoked yet, would take what the trunk refuses.
 * Identities that have come since take nothing away.
 */
export async function trustsAlike({ store }: GitAccess, commit: Oid, trunk: Oid): Promise<boolean> {
  const [before, now] = await Promise.all([openTree(store, commit), openTree(store, trunk)]);
  if ((await versionsIn(before)) !== (await versionsIn(now))) return false;
  const [old, newest] = await Promise.all([before, now].map((tree) => listIn(tree, IDENTITIES)));
  const there = new Set(newest!.map(({ name, oid }) => `${name} ${oid}`));
  const changed = old!.filter(({ name, oid }) => !there.has(`${name} ${oid}`)); // perhaps only in its skill
  const alike = changed.map(async ({ name }) => {
    const [one, other] = await Promise.all([before, now].map((tree) => find(tree, identityPath(name))));
    return !one || one.oid === other?.oid;
  });
  return (await Promise.all(alike)).every(Boolean);
}

const IDENTITIES = `${ROOT}/identities`;

/** What is in force; not what waits for signatures. */
async function versionsIn(tree: Source): Promise<string> {
  const files = await listIn(tree, `${ROOT}/policy`);
  const inForce = files.filter(({ name }) => parsePolicyName(name)?.pending === false);
  return inForce.map(({ name, oid }) => `${name} ${oid}`).join();
}

async function listIn(tree: Source, path: string): Promise<Entry[]> {
  const folder = await find(tree, path);
  return folder?.mode === FOLDER ? tree.list(folder) : [];
}
