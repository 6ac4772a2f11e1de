import { HandoffError } from '../../core/error.ts';
import { identityPath } from '../../core/paths.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isActive } from '../../core/trust/key-standing.ts';
import { formatPublicKey } from '../../core/trust/sshsig.ts';
import type { Identity, RootKeys, Trust } from '../../core/trust/trust.ts';
import type { Directories, GitAccess, Settings } from '../../repository/parts.ts';
import { protectedRefs, trackedTips } from '../../repository/tracking.ts';
import { assertOutsideWorkTree, type KeyRing, keyDirectory, keyFolders, readKeys, type Signer } from './keys.ts';
import type { NamedSigner } from './sign.ts';
import { readSshKey, sshKeyFolder } from './ssh-key.ts';

/** Who acts: named by a flag (then it must be so), or by the environment (then it is a wish). */
export interface Actor {
  as?: string;
}

export function keyRing(repository: Directories & Settings, repoId: string | null): KeyRing {
  const ring = { directory: keyDirectory(repository.env), repoId, dirs: repository.dirs };
  for (const folder of keyFolders(ring)) assertOutsideWorkTree(folder, repository.dirs);
  return ring;
}

/** Every key on this machine that could sign for a name: handoff.signingKey first, then our key files. */
export async function signersFor(
  repository: Directories & Settings,
  repoId: string | null,
  name: string,
): Promise<Signer[]> {
  const path = (await repository.config()).get('handoff.signingKey');
  const folder = path && sshKeyFolder(path, repository.env);
  if (folder) assertOutsideWorkTree(folder, repository.dirs);
  const own = path ? [await readSshKey(path, repository.env)] : [];
  return [...own, ...(await readKeys(keyRing(repository, repoId), name))];
}

/** The maintainer who signs agents, tasks and the project. SPEC §5.4 */
export async function maintainerSigner(
  repository: Directories & Settings,
  trust: Trust,
  actor: Actor,
  need = ANY_KEY,
): Promise<NamedSigner> {
  const maintainers = [...trust.identities.values()].filter(({ role }) => role === 'maintainer');
  const active = new Map(maintainers.map((identity) => [identity.name, identity.keys.filter(isActive)]));
  if (actor.as !== undefined) requireIdentity(trust, actor.as);
  return chooseSigner(repository, trust.repoId, active, actor, { ...need, role: 'maintainer' });
}

/** The maintainer who signs a checkpoint, which OpenSSH cannot. SPEC §11.3 */
export async function ledgerSigner(
  repository: Directories & Settings,
  trust: Trust,
  actor: Actor,
): Promise<NamedSigner> {
  return maintainerSigner(repository, trust, actor, KEY_FILE);
}

/** A key on this machine that writes for an identity now; null when there is none. */
export async function activeSigner(
  repository: GitAccess & Directories & Settings,
  trust: Trust,
  name: string,
): Promise<Signer | null> {
  if (!trust.identities.has(name)) await refuseElsewhere(repository, trust, name);
  const { keys } = requireIdentity(trust, name);
  return matching(await signersFor(repository, trust.repoId, name), keys.filter(isActive))[0] ?? null;
}

/** Whoever the environment or the configuration names goes first, if entitled; then whose key is here. */
async function preferred(repository: Settings, candidates: ReadonlyMap<string, unknown>): Promise<string[]> {
  const wished = repository.env.HANDOFF_IDENTITY || (await repository.config()).get('handoff.identity');
  const names = [...candidates.keys()];
  return wished !== undefined && candidates.has(wished) ? [wished, ...names] : names;
}

/** A root principal, who signs policies and maintainers. SPEC §5.2 */
export async function rootSigner(
  repository: Directories & Settings,
  repoId: string,
  root: RootKeys,
  actor: Actor,
): Promise<NamedSigner> {
  const keys = new Map([...root.principals].map(([name, key]) => [name, [key]]));
  return chooseSigner(repository, repoId, keys, actor, { ...ANY_KEY, role: 'root principal' });
}

/** What a key is needed for. */
interface Need {
  /** Where keys are looked for, for whoever has none. */
  places(directory: string): string;
  /** Keys that are as good as any other, but for this. */
  fits(signer: Signer): boolean;
}

const ANY_KEY: Need = { places: allKeys, fits: () => true };
const KEY_FILE: Need = { places: keyFiles, fits: ({ signNote }) => signNote !== undefined };

/** The first that fits; where none does, the first that is there, and what it is needed for says why it cannot be. */
async function chooseSigner(
  repository: Directories & Settings,
  repoId: string,
  candidates: ReadonlyMap<string, readonly PublicKey[]>,
  actor: Actor,
  { role, places, fits }: Need & { role: string },
): Promise<NamedSigner> {
  if (actor.as !== undefined && !candidates.has(actor.as)) {
    throw new HandoffError('not_entitled', `${actor.as} is no ${role}, and only a ${role} may sign this.`, {
      hint: `Act as one of: ${[...candidates.keys()].join(', ')} (--as NAME).`,
    });
  }
  const others: NamedSigner[] = [];
  for (const name of actor.as === undefined ? await preferred(repository, candidates) : [actor.as]) {
    const named = matching(await signersFor(repository, repoId, name), candidates.get(name)!);
    const fitting = named.find(fits);
    if (fitting) return { identity: name, signer: fitting };
    others.push(...named.map((signer) => ({ identity: name, signer })));
  }
  if (others[0]) return others[0];
  const who = actor.as ?? `any ${role} (${[...candidates.keys()].join(', ')})`;
  throw noKey(who, places(keyDirectory(repository.env)));
}

export function requireIdentity(trust: Trust, name: string): Identity {
  const identity = trust.identities.get(name);
  if (identity) return identity;
  throw new HandoffError('unknown_identity', `There is no identity called ${JSON.stringify(name)}.`, {
    hint: `Known: ${[...trust.identities.keys()].join(', ')}. If it was signed in on another branch, merge that one (git pull); else a maintainer signs it in: git handoff identity add NAME`,
    data: { identity: name },
  });
}

/** This branch does not know the identity yet, so its records would not be valid here. Bring the identity to this branch first. */
async function refuseElsewhere(repository: GitAccess & Settings, trust: Trust, name: string): Promise<void> {
  const refs = (await trackedTips(repository, trust)).map(({ ref }) => ref);
  for (const ref of [...refs, ...protectedRefs(trust)]) {
    if (!(await repository.store.has(`${ref}:${identityPath(name)}`))) continue;
    const branch = ref.replace(/^refs\/(?:heads|remotes)\//, '');
    throw new HandoffError('unknown_identity', `${name} is signed in on ${branch}, and not on this branch.`, {
      hint: `git merge ${quoteWord(branch)}, then the same command again.`,
      data: { identity: name, ref },
    });
  }
}

function matching(signers: readonly Signer[], keys: readonly PublicKey[]): Signer[] {
  const prints = new Set(keys.map(({ fingerprint }) => fingerprint));
  return signers.filter(({ publicKey }) => prints.has(publicKey.fingerprint));
}

function noKey(who: string, hint: string): HandoffError {
  return new HandoffError('no_key', `No active private key of ${who} is on this machine.`, { hint });
}

function keyFiles(directory: string): string {
  return `Keys are looked for in ${directory} (HANDOFF_KEYS).`;
}

function allKeys(directory: string): string {
  return `Keys are looked for in ${directory} (HANDOFF_KEYS), and git config handoff.signingKey may name an OpenSSH key.`;
}

/** As documents hold it: without a comment. */
export function keyLine(key: PublicKey): string {
  return formatPublicKey(key.bytes);
}
