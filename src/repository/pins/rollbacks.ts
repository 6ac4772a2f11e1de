import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { find, type Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import type { Finding } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { once } from '../../core/once.ts';
import { identityPath, parsePolicyName, policyPath, ROOT } from '../../core/paths.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Directories, GitAccess, Messages, Settings, StateDirectory } from '../parts.ts';
import { protectedRefs } from '../tracking.ts';
import { formatPins, type Pin, type Pins, pinsPath, readPins, tryRemember, type Version } from './pins-file.ts';
import { type FindShown, findShownIn } from './shown.ts';

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
function forks({ policyIds }: Pick<SeenTrust, 'policyIds'>, pin: Pin): boolean {
  return policyIds.length >= pin.version && policyIds[pin.version - 1] !== pin.id;
}

/** Tells whether policies are another line than the one that was seen here. For whoever reads those of many branches. */
export function otherLines(repository: StateDirectory): (policies: Pick<SeenTrust, 'root' | 'policyIds'>) => boolean {
  const kept = once(() => readPins(pinsPath(repository)));
  return (policies) => {
    const pins = kept();
    return pins?.root === policies.root && forks(policies, pins.policy);
  };
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

/** Forgets what this clone has seen: later trees are compared with what it sees from now on. */
export function forgetSeen(repository: StateDirectory & Messages): void {
  rmSync(pinsPath(repository), { force: true });
  repository.warn(
    'Forgotten what this clone had seen: a policy, an identity or a revocation that was taken back before the next verify is not ' +
      'noticed here. Compare the newest with what a maintainer tells you: git handoff policy show, git handoff identity list',
  );
}
