import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { find } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { parsePolicyName, ROOT } from '../core/paths.ts';
import type { Oid } from '../git/store.ts';
import type { Repository } from './repository.ts';

/** The highest policy this clone has seen, and where. SPEC §5.8 */
interface PolicyPin {
  root: string;
  version: number;
  id: string;
  commit: Oid | null;
}

export interface SeenPolicy {
  root: string;
  version: number;
  id: string;
}

/** Pins the root on first use, and says so: a person compares it with what a maintainer told them. */
export async function pinRoot(repository: Repository, root: string): Promise<boolean> {
  if ((await repository.config()).get('handoff.root')) return false;
  await repository.setConfig('handoff.root', root);
  repository.warn(`Pinned root ${root} (first use). Compare it with a maintainer's: git handoff trust`);
  return true;
}

/**
 * Remembers the highest policy seen; an older one, or another of the same version, is a rollback. SPEC §5.9
 * What is only staged is compared and not remembered: no commit has shown it yet.
 */
export async function checkRollback(
  repository: Repository,
  seen: SeenPolicy,
  rev: string,
  staged: boolean,
): Promise<Finding | null> {
  const path = join(repository.stateDir, 'pins.json');
  const pin = await readPin(path);
  const commit = await repository.store.resolve(`${rev}^{commit}`);
  if (!pin || pin.root !== seen.root || seen.version > pin.version) {
    if (!staged) await writePin(path, { ...seen, commit });
    return null;
  }
  if (seen.version === pin.version && seen.id === pin.id) return null;
  if (seen.version < pin.version && (await branchedBefore(repository, commit, pin, seen.version))) return null;
  return rollback(pin, seen);
}

/**
 * A branch that left before the new policy came is old, not rolled back: no commit of its own took a policy away. So the
 * merge base with the commit that showed the newest policy must not have had more than the branch has now.
 */
async function branchedBefore(
  repository: Repository,
  commit: Oid | null,
  pin: PolicyPin,
  version: number,
): Promise<boolean> {
  const { store } = repository;
  if (!commit || !pin.commit || !(await store.resolve(pin.commit))) return false;
  const base = await store.mergeBase(commit, pin.commit);
  if (!base) return false;
  const source = await openTree(store, base);
  const folder = await find(source, `${ROOT}/policy`);
  const names = folder ? await source.list(folder) : [];
  return names.every(({ name }) => (parsePolicyName(name)?.version ?? 0) <= version);
}

function rollback(pin: PolicyPin, seen: SeenPolicy): Finding {
  const expected = `version ${pin.version} (${pin.id})`;
  const found = `version ${seen.version} (${seen.id})`;
  return {
    code: 'policy_rollback',
    severity: 'error',
    path: `${ROOT}/policy`,
    message: `The policy went back: expected ${expected}, which this clone has seen, found ${found}.`,
    expected,
    found,
    hint: 'Restore the newer policy files: policies are only ever added.',
  };
}

async function readPin(path: string): Promise<PolicyPin | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : parsePin(path, text);
}

/** Without its pin a clone cannot notice a rollback, so one that cannot be read is not taken for none. */
function parsePin(path: string, text: string): PolicyPin {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const hint =
      'Make sure that the newest policy is the one you expect (git handoff policy show), then move the file away.';
    throw new HandoffError('io', `The pinned policy in ${path} cannot be read.`, { hint, data: { path }, cause });
  }
}

async function writePin(path: string, pin: PolicyPin): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify(pin)}\n`);
  await rename(`${path}.new`, path);
}
