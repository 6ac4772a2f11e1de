import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { parseJson } from '../core/bytes/json.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { identityPath, parsePolicyName, policyPath, ROOT } from '../core/paths.ts';
import type { Trust } from '../core/trust/trust.ts';
import { replaceFile } from '../disk/durable.ts';
import { readStateText } from '../disk/state-file.ts';
import type { Oid } from '../git/objects/store.ts';
import type { Directories, GitAccess, Messages, Settings, StateDirectory } from './parts.ts';
import { type FindShown, findShownIn } from './shown.ts';
import { protectedRefs } from './tracking.ts';

interface Version {
  version: number;
  id: string;
}

interface NamedVersion extends Version {
  name: string;
}

/** What a tree says about whom to trust: its newest policy, and each identity that holds. */
export interface SeenTrust {
  root: string;
  policy: Version;
  /** The ids of all its policies, the oldest first. */
  policyIds: readonly string[];
  identities: readonly NamedVersion[];
  /** The refs that its policy protects. */
  protectedRefs: readonly string[];
}

export function seenTrust(trust: Trust): SeenTrust {
  const { repoId, policy, policyIds, identities } = trust;
  const { version, id } = policy;
  return {
    root: repoId,
    policy: { version, id },
    policyIds,
    identities: [...identities.values()].map(({ name, version, id }) => ({ name, version, id })),
    protectedRefs: protectedRefs(trust),
  };
}

/** The newest this clone has seen of a document on a protected branch, and in which commit. SPEC §5.9 */
interface Pin extends Version {
  commit: Oid | null;
}

/** By name in a Map: an identity may be called `constructor`, which every object has. */
interface Pins {
  root: string;
  policy: Pin;
  identities: ReadonlyMap<string, Pin>;
}

/**
 * Pins the root on first use, and says so: a person compares it with what a maintainer told them. One who has given that root
 * has compared it. SPEC §5.8
 */
export async function pinRoot(repository: Settings & Messages, root: string, isGiven: boolean): Promise<boolean> {
  if ((await repository.config()).get('handoff.root')) return false;
  await repository.setConfig('handoff.root', root);
  if (!isGiven) repository.warn(`Pinned root ${root} (first use). Compare it with a maintainer's: git handoff trust`);
  return true;
}

/** For verbs whose purpose is another one: if the configuration cannot be written, they warn and go on. */
export async function tryPinRoot(repository: Settings & Messages, root: string, isGiven: boolean): Promise<boolean> {
  try {
    return await pinRoot(repository, root, isGiven);
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'io') throw error;
    repository.warn(`The root is not pinned: ${error.message}`);
    return false;
  }
}

/** What a clone has seen before, compared with what it sees now. */
export interface Rollbacks {
  findings: Finding[];
  /** What is newer is remembered: called once nothing refuses the verb any more. */
  remember(): Promise<void>;
}

/**
 * An older policy or identity than this clone has seen is a rollback, as would be a revocation taken back. SPEC §5.9. What is only
 * staged is compared and not remembered: no commit has shown it yet.
 */
export async function findRollbacks(
  repository: GitAccess & Directories & Settings & StateDirectory & Messages,
  seen: SeenTrust,
  rev: string,
  staged: boolean,
): Promise<Rollbacks> {
  const path = pinsPath(repository);
  const kept = readPins(path);
  const commit = await repository.store.resolve(`${rev}^{commit}`);
  const pins = kept?.root === seen.root ? kept : null;
  const findings: Finding[] = [];
  for (const { place, version, pin } of compared(seen, pins)) {
    const isFork = pin && place === POLICY && forks(seen, pin);
    if (isFork || (pin && (await wentBack(repository, place, version, pin, commit)))) {
      findings.push(rollback(place, pin, version));
    }
  }
  return {
    findings,
    async remember() {
      if (staged || findings.length > 0 || !commit || !hasNews(seen, pins)) return;
      const newest = await merge(seen, pins, await findShownIn({ repository, refs: seen.protectedRefs, commit }));
      if (newest && !isDeepStrictEqual(newest, pins)) tryRemember(repository, path, formatPins(newest));
    },
  };
}

/** Forgets what this clone has seen: later trees are compared with what it sees from now on. */
export function forgetSeen(repository: StateDirectory & Messages): void {
  rmSync(pinsPath(repository), { force: true });
  repository.warn(
    'Forgotten what this clone had seen: a policy, an identity or a revocation that was taken back before the next verify is not ' +
      'noticed here. Compare the newest with what a maintainer tells you: git handoff policy show, git handoff identity list',
  );
}

function pinsPath({ stateDir }: StateDirectory): string {
  return join(stateDir, 'pins.json');
}

interface Compared {
  place: string;
  version: Version;
  pin: Pin | undefined;
}

const POLICY = `${ROOT}/policy`;

function compared(seen: SeenTrust, pins: Pins | null): Compared[] {
  const identities = seen.identities.map(({ name, ...version }) => ({
    place: identityPath(name),
    version,
    pin: pins?.identities.get(name),
  }));
  return [{ place: POLICY, version: seen.policy, pin: pins?.policy }, ...identities];
}

/** A newer policy that does not descend from the pinned one: another line, which an old root key could have signed. */
function forks({ policy, policyIds }: SeenTrust, pin: Pin): boolean {
  return policy.version >= pin.version && policyIds[pin.version - 1] !== pin.id;
}

function hasNews(seen: SeenTrust, pins: Pins | null): boolean {
  return compared(seen, pins).some(({ version, pin }) => isNewer(version, pin));
}

function isNewer({ version }: Version, pin: Pin | undefined): boolean {
  return !pin || version > pin.version;
}

/** What is remembered from now on; null where there is no policy to remember. */
async function merge(seen: SeenTrust, pins: Pins | null, findShown: FindShown): Promise<Pins | null> {
  const policy = (await newestShown(seen, pins?.policy, findShown)) ?? pins?.policy;
  if (!policy) return null;
  const identities = new Map(pins?.identities);
  for (const { name, ...version } of seen.identities) {
    const commit = isNewer(version, identities.get(name)) ? await findShown(identityPath(name)) : null;
    if (commit) identities.set(name, { ...version, commit });
  }
  return { root: seen.root, policy, identities };
}

/** The newest policy of a tree that a protected branch has too: those after it may be waiting there to be pushed. */
async function newestShown({ policyIds }: SeenTrust, pin: Pin | undefined, findShown: FindShown): Promise<Pin | null> {
  for (let version = policyIds.length; version > (pin?.version ?? 0); version -= 1) {
    const commit = await findShown(policyPath(version));
    if (commit) return { version, id: policyIds[version - 1]!, commit };
  }
  return null;
}

/**
 * A branch that left before the new version came is old, not rolled back: no commit of its own took it away. So the
 * merge base with the commit that showed the newest must not have had more than the branch has now. Two policies of one
 * version are always wrong; two identities of one version may be two branches that each changed it.
 */
async function wentBack(
  { store }: GitAccess,
  place: string,
  seen: Version,
  pin: Pin,
  commit: Oid | null,
): Promise<boolean> {
  if (seen.version > pin.version || seen.id === pin.id) return false;
  if (seen.version === pin.version && place === POLICY) return true;
  if (!commit || !pin.commit || !(await store.resolve(pin.commit))) return true;
  // All of them: of two merge bases an attacker chooses which one git names first, by the date of a commit.
  const bases = await store.mergeBases(commit, pin.commit);
  if (bases.length === 0) return true;
  const versions = await Promise.all(bases.map(async (base) => versionAt(await openTree(store, base), place)));
  const before = Math.max(...versions);
  return seen.version === pin.version ? before >= seen.version : before > seen.version;
}

/** The version a tree has of a document; 0 when it has none. */
async function versionAt(source: Source, place: string): Promise<number> {
  const entry = await find(source, place);
  if (!entry) return 0;
  if (place !== POLICY) {
    const text = Buffer.from(await source.read(entry, MAX_RECORD_BYTES)).toString('utf8');
    return Number(/^version: ([0-9]+)$/m.exec(text)?.[1] ?? 0);
  }
  const names = (await source.list(entry)).map(({ name }) => parsePolicyName(name));
  return Math.max(0, ...names.map((name) => (name && !name.pending ? name.version : 0)));
}

function rollback(place: string, pin: Pin, seen: Version): Finding {
  const expected = `version ${pin.version} (${pin.id})`;
  const found = `version ${seen.version} (${seen.id})`;
  return {
    code: 'policy_rollback',
    severity: 'error',
    path: place,
    message: `It went back: expected ${expected}, which this clone has seen, found ${found}.`,
    expected,
    found,
    hint:
      'Bring the newest in: git fetch, then git merge BASE. What a maintainer says was never accepted may be forgotten: ' +
      'git handoff trust --root ROOT --forget',
  };
}

/** As it stands in the file. */
type PinsFile = Omit<Pins, 'identities'> & { identities: Record<string, Pin> };

function formatPins({ root, policy, identities }: Pins): PinsFile {
  return { root, policy, identities: Object.fromEntries(identities) };
}

function readPins(path: string): Pins | null {
  const text = readStateText(path);
  return text === null ? null : parsePins(path, text);
}

/** Without its pins a clone cannot notice a rollback, so a file that cannot be read is not taken for none. */
function parsePins(path: string, text: string): Pins {
  const pins = parseJson<PinsFile>(text);
  if (typeof pins?.root === 'string' && pins.policy && pins.identities)
    return { ...pins, identities: new Map(Object.entries(pins.identities)) };
  throw new HandoffError('io', `The pins in ${path} cannot be read.`, {
    hint:
      'Make sure that the newest policy is the one you expect (git handoff policy show), then: ' +
      'git handoff trust --root ROOT --forget',
    data: { path },
  });
}

/** Where the repository may not be written to, it is verified all the same; the next run compares with what there was. */
export function tryRemember(repository: Messages, path: string, seen: object): void {
  try {
    replaceFile(path, `${JSON.stringify(seen)}\n`);
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    repository.warn(`What was seen cannot be remembered: ${(error as Error).message}`);
  }
}

function isReadOnly(error: unknown): boolean {
  // a folder that cannot be made in one that is mounted read-only is ENOENT to Node
  return hasCode(error, 'EACCES', 'EROFS', 'EPERM', 'ENOENT', 'ENOTDIR', 'EEXIST');
}
