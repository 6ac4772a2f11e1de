import { FILE, find } from '../audit/source.ts';
import { readDocument } from '../audit/trust.ts';
import { HandoffError } from '../core/error.ts';
import { identityPath, policyPath } from '../core/paths.ts';
import type { ParsedRecord } from '../core/record.ts';
import { type Identity, type Policy, readIdentity, readPolicy, rootSigners, type Trust } from '../core/trust.ts';
import { recordId } from '../core/verify.ts';
import type { YamlMap, YamlValue } from '../core/yaml.ts';
import { nodeSuite } from '../crypto.ts';
import type { FileToWrite } from '../journal/files.ts';
import { addSignature, type NamedSigner, signDocument } from '../journal/sign.ts';
import { currentSource, requireTrust } from './current.ts';
import { nextPolicy, type PolicyChange, planPolicy } from './policy-change.ts';
import { type PublishOptions, publish } from './publish.ts';
import { enterWorkTree, type Repository } from './repository.ts';
import { type Actor, keyLine, requireIdentity, rootSigner } from './signing.ts';

export interface PolicyResult {
  version: number;
  policy: YamlMap;
  signed_by: string[];
  /** True while a change waits for more signatures. */
  pending: boolean;
  commit?: string | null;
}

export async function policyShow(repository: Repository): Promise<PolicyResult> {
  const trust = await requireTrust(repository);
  const { policy } = trust;
  const signers = await rootSigners(policy.document, policy.root, nodeSuite);
  const pending = (await readPendingPolicy(repository, trust)) !== null;
  return { version: policy.version, policy: policy.document.fields, signed_by: [...signers], pending };
}

export interface PolicySetOptions extends PublishOptions, Actor {
  key: string;
  value: string;
}

/** The next version with one key changed; it counts once the threshold of both versions has signed. SPEC §5.2 */
export async function policySet(repository: Repository, options: PolicySetOptions): Promise<PolicyResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  if (await readPendingPolicy(repository, trust)) throw stillPending(trust.policy.version + 1);
  const changes = parseChange(options.key, options.value, trust);
  const signer = await rootSigner(repository, trust.repoId, trust.policy.root, options);
  const signed = await signDocument(nextPolicy(trust, changes, repository.now().toISOString()), [signer]).catch(
    badValue(options),
  );
  const change = await planPolicy(trust, signed, [signer]).catch(badValue(options));
  return publishChange(repository, change, change.files, [], signer, options);
}

/** Signs what waits for root principals: the next policy, and maintainers. SPEC §5.2, §5.4 */
export async function policySign(repository: Repository, options: PublishOptions & Actor): Promise<PolicyResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const waiting = await readPendingPolicy(repository, trust);
  const identities = await readPendingIdentities(repository, trust);
  if (!waiting && identities.length === 0) throw nothingPending();
  const next = waiting && readPolicy(waiting, nodeSuite);
  const root = mergedRoot(trust.policy, next);
  if (waiting) await assertProposed(waiting, trust.policy.root);
  for (const { document } of identities) await assertProposed(document, root);
  const documents = [...(waiting ? [waiting] : []), ...identities.map(({ document }) => document)];
  const signer = await rootSigner(repository, trust.repoId, yetToSign(root, documents, options), options);
  const change = waiting && (await planPolicy(trust, await addSignature(waiting, signer), [signer]));
  const judges = change && !change.pending ? change.root : trust.policy.root;
  const files = [...(change?.files ?? [])];
  const removed = change && !change.pending ? [policyPath(change.policy.version, true)] : [];
  for (const { name, document } of identities) {
    const signed = await addSignature(document, signer);
    const complete = (await rootSigners(signed.document, judges, nodeSuite)).size >= judges.threshold;
    const path = identityPath(name, !complete);
    files.splice(0, files.length, ...files.filter((file) => file.path !== path), {
      path,
      bytes: signed.bytes,
      replaces: true,
    });
    if (complete) removed.push(identityPath(name, true));
  }
  return publishChange(repository, change ?? unchanged(trust), files, removed, signer, options);
}

async function publishChange(
  repository: Repository,
  change: Pick<PolicyChange, 'policy' | 'signedBy' | 'pending'>,
  files: FileToWrite[],
  removed: string[],
  { identity }: NamedSigner,
  options: PublishOptions,
): Promise<PolicyResult> {
  const { policy, signedBy, pending } = change;
  const message = `handoff: policy ${policy.version}${pending ? ', waiting for signatures' : ''}`;
  const commit = await publish(repository, { files, removed, message, identity }, options);
  return { version: policy.version, policy: policy.document.fields, signed_by: signedBy, pending, commit };
}

function unchanged({ policy }: Trust): Pick<PolicyChange, 'policy' | 'signedBy' | 'pending'> {
  return { policy, signedBy: [...policy.root.principals.keys()], pending: false };
}

/** Anyone whose key is in the old root or the new one may sign a change. */
function mergedRoot(current: Policy, next: Policy | null): Policy['root'] {
  const principals = new Map([...current.root.principals, ...(next?.root.principals ?? [])]);
  return { threshold: current.root.threshold, principals };
}

/** Whoever has not signed all of it. */
function yetToSign(root: Policy['root'], documents: readonly ParsedRecord[], { as }: Actor): Policy['root'] {
  const open = [...root.principals].filter(([name, { fingerprint }]) =>
    documents.some(
      ({ signatures }) => !signatures.some((line) => line.identity === name && line.fingerprint === fingerprint),
    ),
  );
  if (as === undefined || !root.principals.has(as) || open.some(([name]) => name === as)) {
    return { ...root, principals: new Map(open) };
  }
  throw new HandoffError('usage', `${as} has signed all that waits.`, {
    hint: `Yet to sign: ${open.map(([name]) => name).join(', ')}`,
  });
}

/** Anyone can put a file where waiting ones are; only what a root principal has proposed is signed along. */
async function assertProposed(document: ParsedRecord, root: Policy['root']): Promise<void> {
  if ((await rootSigners(document, root, nodeSuite)).size > 0) return;
  const what = document.kind === 'policy' ? 'policy' : `identity ${document.fields.name}`;
  throw new HandoffError('signer_unknown', `No root principal has signed the ${what} that waits for signatures.`, {
    hint: 'Somebody else put it there: look at it, and remove the pending file.',
  });
}

async function readPendingPolicy(repository: Repository, trust: Trust): Promise<ParsedRecord | null> {
  const source = await currentSource(repository);
  const entry = await find(source, policyPath(trust.policy.version + 1, true));
  return entry?.mode === FILE ? readDocument(source, entry, 'policy', trust.repoId) : null;
}

async function readPendingIdentities(
  repository: Repository,
  trust: Trust,
): Promise<{ name: string; document: ParsedRecord }[]> {
  const source = await currentSource(repository);
  const folder = await find(source, '.handoff/identities');
  const found: { name: string; document: ParsedRecord }[] = [];
  for (const { name } of folder ? await source.list(folder) : []) {
    const entry = await find(source, identityPath(name, true));
    if (entry?.mode !== FILE) continue;
    const document = await readDocument(source, entry, 'identity', trust.repoId);
    const identity = readIdentity(document, nodeSuite);
    if (identity.name === name && followsIdentity(identity, trust)) found.push({ name, document });
  }
  return found;
}

/** An older version that waits again would bring back a key that was revoked since. */
function followsIdentity({ name, document }: Identity, { identities }: Trust): boolean {
  const current = identities.get(name)?.document;
  const { version, prev } = document.fields;
  if (!current) return version === 1 && prev === null;
  return version === (current.fields.version as number) + 1 && prev === recordId(current.signedBytes, nodeSuite);
}

/** `root.threshold 2`, `root.keys a,b`, `stale_after 900`, `writeback.review true`, `exempt docs/**,*.md` */
function parseChange(key: string, value: string, trust: Trust): YamlMap {
  const { fields } = trust.policy.document;
  const [section = '', leaf] = key.split('.');
  if (key === 'root.keys') return { root: { ...(fields.root as YamlMap), keys: rootKeys(value, trust) } };
  const target = leaf === undefined ? fields : (fields[section] as YamlMap | undefined);
  const current = SETTABLE.has(section) && key.split('.').length <= 2 ? target?.[leaf ?? section] : undefined;
  if (current === undefined || isMap(current)) throw unknownKey(key, fields);
  const parsed = parseLike(current, value);
  return leaf === undefined ? { [section]: parsed } : { [section]: { ...(target as YamlMap), [leaf]: parsed } };
}

const SETTABLE: ReadonlySet<string> = new Set([
  'root',
  'protected',
  'writeback',
  'exempt',
  'stale_after',
  'limits',
  'sections',
]);

/** Maintainers by name; the key of each is its active one, or the root key it has now. */
function rootKeys(value: string, trust: Trust): string[] {
  return splitList(value).map((name) => {
    const identity = requireIdentity(trust, name);
    const key = identity.keys.find(({ state }) => state === 'active');
    if (identity.role === 'maintainer' && key) return `${name} ${keyLine(key)}`;
    throw new HandoffError('usage', `${name} cannot hold a root key: expected a maintainer with an active key.`, {
      hint: `git handoff identity add ${name} --role maintainer`,
    });
  });
}

function parseLike(current: YamlValue, value: string): YamlValue {
  if (Array.isArray(current)) return value === 'none' ? [] : splitList(value); // as `policy show` says it
  if (typeof current === 'number') return /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  if (typeof current === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : value;
  return value;
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isMap(value: YamlValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value the schema refuses is the caller's mistake, not a broken record. */
function badValue({ key, value }: PolicySetOptions): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HandoffError) || error.exitCode !== 1) throw error;
    throw new HandoffError('usage', `${key} cannot be ${JSON.stringify(value)}: ${error.message}`, {
      hint: 'git handoff policy show',
    });
  };
}

function unknownKey(key: string, fields: YamlMap): HandoffError {
  const keys = [...SETTABLE].flatMap((name) => {
    const value = fields[name]!;
    return isMap(value) ? Object.keys(value as YamlMap).map((leaf) => `${name}.${leaf}`) : [name];
  });
  return new HandoffError('usage', `The policy has no key ${JSON.stringify(key)} that can be set.`, {
    hint: `Keys: ${keys.join(', ')}`,
  });
}

function stillPending(version: number): HandoffError {
  return new HandoffError('usage', `Policy ${version} still waits for signatures.`, {
    hint: `Sign it (git handoff policy sign --as NAME), or withdraw it: git rm ${policyPath(version, true)}`,
  });
}

function nothingPending(): HandoffError {
  return new HandoffError('usage', 'Nothing waits for a signature.', { hint: 'git handoff policy show' });
}
