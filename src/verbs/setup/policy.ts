import type { YamlMap, YamlValue } from '../../core/bytes/yaml.ts';
import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isActive } from '../../core/trust/key-standing.ts';
import { POLICY_DEFAULTS } from '../../core/trust/policy-defaults.ts';
import { rootSigners, type Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { isFullRef } from '../../git/objects/asked-name.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { type NamedSigner, signDocument } from '../../journal/keys/sign.ts';
import { type Actor, keyLine, requireIdentity, rootSigner } from '../../journal/keys/signers.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { nextPolicy, type PolicyChange, planPolicy } from '../../trust/policy-change.ts';
import { isOfPolicy, readWaiting, type ShownDocument, tellReplaced } from '../../trust/waiting.ts';

export interface PolicyResult {
  version: number;
  policy: YamlMap;
  signed_by: string[];
  /** True while a change waits for more signatures. */
  pending: boolean;
  /** Only in the result of `show`: every document that waits for root principals. */
  waiting?: ShownDocument[];
  /** Every document that was signed just now. */
  signed?: ShownDocument[];
  commit?: string | null;
}

export async function policyShow(repository: Repository): Promise<PolicyResult> {
  const trust = await requireTrust(repository);
  const { policy } = trust;
  const signers = await rootSigners(policy.document, policy.root, nodeSuite);
  const waiting = await readWaiting(repository, trust);
  const pending = waiting.some(isOfPolicy);
  const shown = waiting.map((each) => each.shown);
  return { version: policy.version, policy: policy.document.fields, signed_by: [...signers], pending, waiting: shown };
}

export interface PolicySetOptions extends PublishOptions, Actor {
  key: string;
  value: string;
}

/**
 * The next version with one key changed; it counts once the threshold of both versions has signed. SPEC §5.2. Whoever changes their
 * mind replaces what waits: no gate lets it be withdrawn (SPEC §10.3).
 */
export async function policySet(repository: Repository, options: PolicySetOptions): Promise<PolicyResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const replaced = (await readWaiting(repository, trust)).find(isOfPolicy);
  const changes = parseChange(options.key, options.value, trust);
  const signer = await rootSigner(repository, trust.repoId, trust.policy.root, options);
  const signed = await signDocument(nextPolicy(trust, changes, repository.now().toISOString()), [signer]).catch(
    badValue(options),
  );
  const change = await planPolicy(trust, signed, [signer]).catch(badValue(options));
  if (replaced) tellReplaced(repository, replaced);
  if (replaced && !change.pending) change.removed.push(replaced.shown.path);
  return publishChange(repository, change, signer, options);
}

export async function publishChange(
  repository: Repository,
  change: PolicyChange,
  { identity }: NamedSigner,
  options: PublishOptions,
): Promise<PolicyResult> {
  const { policy, signedBy, pending, files, removed, signed } = change;
  const isPolicy = signed.some(({ kind }) => kind === 'policy');
  const what = isPolicy ? `policy ${policy.version}` : `sign ${signed.map(({ document }) => document).join(', ')}`;
  const message = `handoff: ${what}${pending ? ', waiting for signatures' : ''}`;
  const commit = await publish(repository, { files, removed, message, identity }, options);
  return { version: policy.version, policy: policy.document.fields, signed_by: signedBy, pending, signed, commit };
}

/** `root.threshold 2`, `root.keys a,b`, `stale_after 900`, `writeback.review true`, `exempt docs/**,*.md` */
function parseChange(key: string, value: string, trust: Trust): YamlMap {
  const { root } = trust.policy.document.fields;
  const fields: YamlMap = trust.policy.document.fields;
  const [section = '', leaf] = key.split('.');
  if (key === 'root.keys') return { root: { ...root, keys: rootKeys(value, trust) } };
  const target = leaf === undefined ? fields : (fields[section] ?? absent(section));
  const name = leaf ?? section;
  const isSettable = SETTABLE.has(section) && key.split('.').length <= 2;
  const old = isSettable && isMap(target) ? findValue(target, section, name) : undefined;
  if (old === undefined || isMap(old)) throw unknownKey(key, fields);
  const parsed = parseLike(old, value);
  if (key === 'protected' && Array.isArray(parsed)) for (const ref of parsed) assertBranch(String(ref));
  return leaf === undefined || !isMap(target) ? { [section]: parsed } : { [section]: { ...target, [leaf]: parsed } };
}

/** A section that this policy leaves out, and that has a meaning all the same. */
function absent(section: string): YamlMap | undefined {
  return Object.hasOwn(POLICY_DEFAULTS, section) ? {} : undefined;
}

function findValue(target: YamlMap, section: string, name: string): YamlValue | undefined {
  const holder = [target, POLICY_DEFAULTS[section] ?? {}].find((each) => Object.hasOwn(each, name));
  return holder?.[name];
}

const SETTABLE: ReadonlySet<string> = new Set([
  'root',
  'protected',
  'writeback',
  'exempt',
  'stale_after',
  'limits',
  'sections',
  'agents',
]);

/** Maintainers by name; the key of each is its active one, or the root key it has now. */
function rootKeys(value: string, trust: Trust): string[] {
  return splitList(value).map((name) => {
    const identity = requireIdentity(trust, name);
    const key = identity.keys.find(isActive);
    if (identity.role === 'maintainer' && key) return `${name} ${keyLine(key)}`;
    throw new HandoffError('usage', `${name} cannot hold a root key: expected a maintainer with an active key.`, {
      hint:
        identity.role === 'maintainer'
          ? `Give ${name} a new key first: git handoff identity rotate ${quoteWord(name)}. If one waits for signatures: git handoff policy sign identity/${name}`
          : `${name} is signed in as ${identity.role}. Sign in a maintainer: git handoff identity add NAME --role maintainer`,
    });
  });
}

function parseLike(old: YamlValue, value: string): YamlValue {
  if (Array.isArray(old)) return value === 'none' ? [] : splitList(value); // as `policy show` says it
  if (typeof old === 'number') return /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  if (typeof old === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : value;
  return value;
}

/** What can be no branch would be protected in name only, and what was meant not at all. */
function assertBranch(ref: string): void {
  if (isFullRef(ref) && /^refs\/heads\/[^-]/.test(ref)) return;
  const name = ref.replace(/^(?:refs\/)?heads\//, '');
  const isBranch = isFullRef(`refs/heads/${name}`) && !name.startsWith('-');
  throw new HandoffError('usage', `protected: expected the full name of a branch, found ${JSON.stringify(ref)}.`, {
    hint: isBranch
      ? `git handoff policy set protected ${quoteWord(`refs/heads/${name}`)}`
      : 'git for-each-ref refs/heads',
    data: { found: ref },
  });
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isMap(value: YamlValue | undefined): value is YamlMap {
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
    const value = fields[name] ?? absent(name);
    return isMap(value) ? Object.keys({ ...value, ...POLICY_DEFAULTS[name] }).map((leaf) => `${name}.${leaf}`) : [name];
  });
  return new HandoffError('usage', `The policy has no key ${JSON.stringify(key)} that can be set.`, {
    hint: `Keys: ${keys.join(', ')}`,
  });
}
