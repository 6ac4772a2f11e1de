import { find, type Source } from '../../audit/source/source.ts';
import { equalBytes } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Identity, IdentityKey, Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { NamedSigner } from '../../journal/keys/sign.ts';
import { type Actor, activeSigner, maintainerSigner, requireIdentity } from '../../journal/keys/signers.ts';
import type { Repository } from '../../repository/repository.ts';
import { treeAt } from '../../repository/tree-at.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { nextVersion } from '../../trust/identity-document.ts';
import {
  isDistrusted,
  type MaintainedDocument,
  maintainedDocuments,
  planResign,
  type ResignPlan,
} from '../../trust/resign.ts';
import { type IdentityOptions, type IdentityResult, isRootKey, publishIdentity } from './identity.ts';

export interface ResignOptions {
  /** A commit, or a date, at which the key was still in good hands. */
  since?: string;
  /** Names or paths of documents that somebody has looked at. */
  resign?: readonly string[];
  resignAll?: boolean;
}

export interface RevokeResult extends IdentityResult, Omit<ResignPlan, 'files' | 'removed'> {
  revoked: string[];
}

/** Keys that nobody should trust any more; by default all active ones. SPEC §5.5 */
export async function identityRevoke(
  repository: Repository,
  options: IdentityOptions & ResignOptions,
): Promise<RevokeResult> {
  const trust = await requireTrust(repository);
  const identity = requireIdentity(trust, options.name);
  const own = await ownSigner(repository, trust, identity, options);
  if (!own) assertNotRoot(identity, trust);
  const isHit = ({ fingerprint, state }: IdentityKey): boolean => {
    if (options.key) return fingerprint === options.key;
    return own ? state !== 'revoked' : state === 'active'; // laid down, none is left
  };
  const hit = identity.keys.filter(isHit);
  if (hit.length === 0) throw noSuchKey(identity, options.key);
  const sealed = await sealedSoFar(repository, trust, hit);
  const revoked = { state: 'revoked', ...(sealed > 0 ? { cutoff: sealed } : {}) } as const;
  const keys = identity.keys.map((key): IdentityKey => (hit.includes(key) ? { ...key, ...revoked } : key));
  const fields = nextVersion(identity, keys, repository.now().toISOString(), nodeSuite);
  // the keys that fall must not be the ones that vouch
  const after = { ...trust, identities: new Map([...trust.identities, [identity.name, { ...identity, keys }]]) };
  const fallen = identity.role === 'maintainer' ? await fallenDocuments(repository, trust, after) : [];
  const { files, removed, ...plan } = await planFallen(repository, after, fallen, options);
  const message = `handoff: revoke a key of ${identity.name}`;
  const result = await publishIdentity(repository, trust, fields, hit[0]!.fingerprint, message, options, {
    others: files,
    removed,
    own,
  });
  if (own && isRootKey(identity, trust)) repository.warn(stillRoot(identity.name, trust));
  return { ...result, revoked: hit.map(({ fingerprint }) => fingerprint), ...plan };
}

/**
 * SPEC §5.5: who holds a maintainer's key lays it down alone, by `--as` itself. Not where that key alone is the root: nobody would be
 * left who can sign anybody in.
 */
async function ownSigner(
  repository: Repository,
  trust: Trust,
  identity: Identity,
  { as, key }: IdentityOptions,
): Promise<NamedSigner | undefined> {
  const { name, role } = identity;
  const isRoot = isRootKey(identity, trust) && trust.policy.root.threshold === 1;
  if (role !== 'maintainer' || as !== name || key !== undefined || isRoot) return undefined;
  const signer = await activeSigner(repository, trust, name);
  return signer ? { identity: name, signer } : undefined;
}

function stillRoot(name: string, { policy }: Trust): string {
  const { threshold, principals } = policy.root;
  const commands = [
    `identity rotate ${name} --as ${name}`,
    `policy sign identity/${name} --as OTHER`,
    `policy set root.keys ${[...principals.keys()].join(',')} --as ${name}`,
    `policy sign policy/${policy.version + 1} --as OTHER`,
    `policy sign policy/${policy.version + 1} --as ${name}`, // once more, with the new key
  ];
  return `The key is a root key of policy ${policy.version} still, where it takes ${threshold} to decide. Replace it there, with other root principals: ${commands.map((words) => `git handoff ${words}`).join('; ')}`;
}

/** What counts now and would not without the keys that fall. */
async function fallenDocuments(repository: Repository, trust: Trust, after: Trust): Promise<MaintainedDocument[]> {
  const fallen: MaintainedDocument[] = [];
  for (const each of await maintainedDocuments(await currentSource(repository)))
    if ((await isDistrusted(each, after)) && !(await isDistrusted(each, trust))) fallen.push(each);
  return fallen;
}

async function planFallen(
  repository: Repository,
  after: Trust,
  fallen: readonly MaintainedDocument[],
  { since, resign = [], resignAll = false, ...actor }: ResignOptions & Actor,
): Promise<ResignPlan> {
  const tree = since === undefined ? null : await treeAt(repository, since);
  const signer = fallen.length === 0 ? null : await whoVouches(repository, after, actor);
  const plan = await planResign(fallen, { named: resign, all: resignAll, since: tree }, signer);
  if (tree) await setSkillsBack(plan, await currentSource(repository), tree);
  return plan;
}

/** SPEC §5.6: an identity that is set back names the skill that it had then. With another beside it, nobody would accept it. */
async function setSkillsBack({ withdrawn, files, removed }: ResignPlan, now: Source, since: Source): Promise<void> {
  for (const identity of withdrawn.filter((path) => path.endsWith('/identity.yaml'))) {
    const path = identity.replace(/identity\.yaml$/, 'skill.md');
    const [there, old] = await Promise.all([find(now, path), find(since, path)]);
    if (old) files.push({ path, bytes: await since.read(old, MAX_RECORD_BYTES), replaces: true });
    else if (there) removed.push(path);
  }
}

/** Nothing keeps a key from being revoked: where no maintainer is here to sign what falls with it, that waits. */
async function whoVouches(repository: Repository, trust: Trust, actor: Actor): Promise<NamedSigner | null> {
  try {
    return await maintainerSigner(repository, trust, actor);
  } catch (error) {
    if (!(error instanceof HandoffError) || !['no_key', 'not_entitled'].includes(error.code)) throw error;
    repository.warn(`Nothing is signed anew: ${error.message}`);
    return null;
  }
}

/** How many seals the ledger has: what they cover stands. Nothing keeps a key from being revoked, not even a ledger that does not hold. */
async function sealedSoFar(repository: Repository, trust: Trust, hit: readonly IdentityKey[]): Promise<number> {
  const { openCheckpoint, readLedger } = await import('../../audit/ledger/ledger.ts');
  try {
    const ledger = await readLedger(await currentSource(repository));
    if (!ledger) return 0;
    const { verified } = await openCheckpoint(ledger, trust, nodeSuite);
    const signers = verified.map(({ verifier }) => verifier.publicKey);
    if (hit.some(({ bytes }) => signers.some((key) => equalBytes(key, bytes))))
      repository.warn('The ledger is signed by that key. Once this is merged, sign it anew: git handoff ledger append');
    return ledger.checkpoint.size;
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'ledger_inconsistent') throw error;
    repository.warn(`Nothing that the key signed will stand, since the ledger does not hold: ${error.message}`);
    return 0;
  }
}

/** A root key is in the policy; taking it out is a new policy version, signed by the threshold. */
function assertNotRoot(identity: Identity, trust: Trust): void {
  if (!isRootKey(identity, trust)) return;
  throw new HandoffError('usage', `The key of ${identity.name} is a root key of policy ${trust.policy.version}.`, {
    hint: `Replace it (git handoff identity rotate ${quoteWord(identity.name)}), or name other root keys first: git handoff policy set root.keys A,B`,
  });
}

function noSuchKey(identity: Identity, print: string | undefined): HandoffError {
  return new HandoffError('usage', `${identity.name} has no ${print ? `key ${print}` : 'active key'}.`, {
    hint: `Its keys: ${identity.keys.map(({ fingerprint, state }) => `${fingerprint} (${state})`).join(', ')}`,
  });
}
