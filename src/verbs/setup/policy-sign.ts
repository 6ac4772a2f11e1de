import { HandoffError } from '../../core/error.ts';
import { isIdentityName } from '../../core/names.ts';
import { identityPath, policyPath } from '../../core/paths.ts';
import { attachSignatures } from '../../core/record/format.ts';
import { type ParsedRecord, parseAs } from '../../core/record/record.ts';
import {
  assertMaintainer,
  type Policy,
  type RootKeys,
  readIdentity,
  readPolicy,
  rootSigners,
  type Trust,
} from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { addSignature, type NamedSigner } from '../../journal/keys/sign.ts';
import { type Actor, rootSigner } from '../../journal/keys/signers.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type PolicyChange, planPolicy } from '../../trust/policy-change.ts';
import { isRotation } from '../../trust/rotation.ts';
import { isOfPolicy, readWaiting, show, tellAlong, type Waiting } from '../../trust/waiting.ts';
import { type PolicyResult, publishChange } from './policy.ts';

export interface PolicySignOptions extends PublishOptions, Actor {
  /** Documents that wait, each by what it is called, its path or its id. May be left out where one waits. */
  what?: readonly string[];
}

/** Signs what is named of what waits for root principals: the next policy, and maintainers. SPEC §5.2, §5.4 */
export async function policySign(repository: Repository, options: PolicySignOptions = {}): Promise<PolicyResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const waiting = await readWaiting(repository, trust);
  const roots = [trust.policy.root, ...(await comingRoots(waiting, trust))];
  const chosen = choose(waiting, options);
  for (const { document } of chosen) await assertProposed(document, document.kind === 'policy' ? [roots[0]!] : roots);
  if (!options.what?.length) assertOne(chosen, trust, options);
  const signer = await rootSigner(repository, trust.repoId, yetToSign(roots, chosen, options), options);
  const change = await planSigning(trust, waiting, chosen, signer);
  if (!change.pending) await assertNobodyLeftOut(trust, change, waiting, options);
  const along = waiting.filter((each) => !chosen.includes(each) && change.removed.includes(each.shown.path));
  for (const each of along) tellAlong(repository, each);
  return publishChange(repository, change, signer, options);
}

/** What signing these documents changes: each is in force, or waits on with one more signature. */
async function planSigning(
  trust: Trust,
  waiting: readonly Waiting[],
  chosen: readonly Waiting[],
  signer: NamedSigner,
): Promise<PolicyChange> {
  const policy = chosen.find(isOfPolicy);
  const change = policy
    ? await planPolicy(trust, await addSignature(policy.document, signer), [signer])
    : unchanged(trust);
  const isNext = policy !== undefined && !change.pending;
  if (isNext) change.removed.push(policyPath(change.policy.version, true));
  const judges = isNext ? change.root : trust.policy.root;
  for (const each of waiting) {
    const isChosen = chosen.includes(each);
    // an identity that only waited for this policy comes into force with it, without another signature
    if (each.identity !== null && (isChosen || isNext))
      await addIdentity(change, each, isChosen ? signer : null, judges);
  }
  return change;
}

async function addIdentity(
  change: PolicyChange,
  { identity, document, shown }: Exclude<Waiting, { identity: null }>,
  signer: NamedSigner | null,
  judges: RootKeys,
): Promise<void> {
  const bytes = signer ? (await addSignature(document, signer)).bytes : bytesOf(document);
  const signed = parseAs(bytes, 'identity');
  const isComplete = (await rootSigners(signed, judges, nodeSuite)).size >= judges.threshold;
  if (!signer && !isComplete) return;
  const path = identityPath(identity, !isComplete);
  change.files = [...change.files.filter((file) => file.path !== path), { path, bytes, replaces: true }];
  if (isComplete) change.removed.push(identityPath(identity, true));
  if (!signer) return;
  const { signed_by } = show(signed, path, null);
  change.signed = [...change.signed.filter((each) => each.path !== path), { ...shown, path, signed_by }];
}

function bytesOf({ kind, signedBytes, signatures }: ParsedRecord): Uint8Array {
  return attachSignatures({ kind, signedBytes, offset: signedBytes.length }, signatures);
}

function unchanged({ policy }: Trust): PolicyChange {
  const signedBy = [...policy.root.principals.keys()];
  return { policy, signedBy, pending: false, root: policy.root, files: [], removed: [], signed: [] };
}

/** What is named; all of it where nothing is. */
function choose(waiting: readonly Waiting[], options: PolicySignOptions): readonly Waiting[] {
  const { what = [] } = options;
  if (waiting.length === 0) throw nothingPending();
  if (what.length === 0) return waiting;
  const isNamed = ({ document, path, id }: Waiting['shown'], name: string) => [document, path, id].includes(name);
  const unknown = what.find((name) => !waiting.some(({ shown }) => isNamed(shown, name)));
  if (unknown !== undefined) throw notWaiting(unknown, waiting, options);
  return waiting.filter(({ shown }) => what.some((name) => isNamed(shown, name)));
}

/** Without a name only a single document is signed: of several, one would be signed unseen. */
function assertOne(waiting: readonly Waiting[], trust: Trust, options: PolicySignOptions): void {
  if (waiting.length > 1 && !isRotation(waiting, trust)) throw severalWait(waiting, options);
}

/** Whose key is in the next root may sign as well, where a root principal has proposed that. */
async function comingRoots(waiting: readonly Waiting[], { policy }: Trust): Promise<RootKeys[]> {
  const next = waiting.find(isOfPolicy);
  const isProposed = next && (await rootSigners(next.document, policy.root, nodeSuite)).size > 0;
  return isProposed ? [readPolicy(next.document, nodeSuite).root] : [];
}

/** Whoever has not signed all of it, each with the first key that has not: one whose key is replaced signs with both, one after the other. */
function yetToSign(roots: readonly RootKeys[], chosen: readonly Waiting[], { as }: Actor): RootKeys {
  const all = roots.flatMap(({ principals }) => [...principals]);
  const isOpen = ([name, { fingerprint }]: (typeof all)[number]): boolean =>
    chosen.some(
      ({ document }) => !document.signatures.some((line) => line.identity === name && line.fingerprint === fingerprint),
    );
  const open = new Map(all.filter(isOpen).reverse()); // the first of a name counts
  if (as === undefined || !all.some(([name]) => name === as) || open.has(as)) return { ...roots[0]!, principals: open };
  throw new HandoffError('usage', `${as} has signed that already.`, {
    hint: `Yet to sign: ${[...open.keys()].join(', ')}`,
  });
}

/** Anyone can put a file where waiting ones are; only what a root principal has proposed is signed along. */
async function assertProposed(document: Waiting['document'], roots: readonly RootKeys[]): Promise<void> {
  for (const root of roots) if ((await rootSigners(document, root, nodeSuite)).size > 0) return;
  const what = document.kind === 'policy' ? 'policy' : `identity ${document.fields.name}`;
  throw new HandoffError('signer_unknown', `No root principal has signed the ${what} that waits for signatures.`, {
    hint: 'Somebody else put it there: look at it (git handoff policy show), and remove the pending file, or name what you sign.',
  });
}

/** A policy that brings other root keys would drop a maintainer whom those have not signed: as when a root key is rotated. */
async function assertNobodyLeftOut(
  trust: Trust,
  { policy, files }: PolicyChange,
  waiting: readonly Waiting[],
  options: PolicySignOptions,
): Promise<void> {
  for (const identity of trust.identities.values()) {
    if (identity.role !== 'maintainer') continue;
    const file = files.find(({ path }) => path === identityPath(identity.name));
    const next = file ? readIdentity(parseAs(file.bytes, 'identity'), nodeSuite) : identity;
    await assertMaintainer(next, policy, nodeSuite).catch((error) => {
      throw error instanceof HandoffError && error.code === 'signer_unknown'
        ? leftOut(identity.name, policy, waiting, options)
        : error;
    });
  }
}

function nothingPending(): HandoffError {
  return new HandoffError('usage', 'Nothing waits for a signature.', { hint: 'git handoff policy show' });
}

function severalWait(waiting: readonly Waiting[], options: PolicySignOptions): HandoffError {
  return new HandoffError('usage', `Several documents wait for signatures: ${listOf(waiting)}. Name what you sign.`, {
    hint: `Look at them (git handoff policy show), then: ${waiting.map((each) => commandFor([each], options)).join(' or ')}`,
    data: { waiting: waiting.map(({ shown }) => shown) },
  });
}

function notWaiting(name: string, waiting: readonly Waiting[], options: PolicySignOptions): HandoffError {
  return new HandoffError('usage', `${JSON.stringify(name)} does not wait for a signature: ${listOf(waiting)} does.`, {
    hint: `Look again, it may have been replaced (git handoff policy show), then: ${waiting.map((each) => commandFor([each], options)).join(' or ')}`,
    data: { waiting: waiting.map(({ shown }) => shown) },
  });
}

function leftOut(
  name: string,
  { version }: Policy,
  waiting: readonly Waiting[],
  options: PolicySignOptions,
): HandoffError {
  const pair = waiting.filter(({ identity }) => identity === null || identity === name);
  return new HandoffError(
    'usage',
    `Policy ${version} alone would leave the maintainer ${name} without enough signatures.`,
    {
      hint:
        pair.length > 1
          ? `Sign both: ${commandFor(pair, options)}`
          : `Let ${name} be signed first: git handoff policy show`,
      data: { identity: name },
    },
  );
}

function listOf(waiting: readonly Waiting[]): string {
  return waiting.map(({ shown }) => shown.document).join(', ');
}

function commandFor(documents: readonly Waiting[], { as }: Actor): string {
  const names = documents.map(({ shown }) => shown.document).join(' ');
  return `git handoff policy sign ${names}${as !== undefined && isIdentityName(as) ? ` --as ${as}` : ''}`;
}
