import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { isIdentityName } from '../../core/names.ts';
import { parsePolicyName, ROOT } from '../../core/paths.ts';
import type { DocumentKind } from '../../core/record/kinds.ts';
import { hasKind, type ParsedRecord, parseRecord } from '../../core/record/record.ts';
import { recordId, type Suite } from '../../core/record/verify.ts';
import {
  assertBeginning,
  assertMaintainer,
  assertSignedByMaintainer,
  assertSucceeds,
  type Identity,
  type Policy,
  readIdentity,
  readPolicy,
  type Trust,
} from '../../core/trust/trust.ts';
import { attempt, finding, type Report } from '../finding.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FILE, FOLDER, find, type Source } from '../source/source.ts';

/**
 * Who a tree says is trusted, SPEC §5: its policies from genesis on, then maintainers, then everyone they signed in.
 * Null when not even the genesis holds; every file that fails is reported.
 */
export async function loadTrust(source: Source, suite: Suite, report: Report): Promise<Trust | null> {
  const policies = await readPolicies(source, suite, report);
  const genesis = policies[0];
  if (!genesis) return null;
  const repoId = rootOf(genesis);
  const policy = policies.at(-1)!;
  const policyIds = policies.map(({ id }) => id);
  return { repoId, policy, policyIds, ...(await readIdentities(source, { repoId, policy }, suite, report)) };
}

/** If there is no policy, nobody is trusted and nothing is protected. */
export async function hasPolicy(source: Source): Promise<boolean> {
  return (await policyEntries(source)).length > 0;
}

function notInitialised(): HandoffError {
  return new HandoffError('not_initialised', 'There is no .handoff/policy here: git-handoff is not initialised.', {
    hint: 'Where another branch has it, switch to that or merge it. Where none has: git handoff init',
  });
}

/** SPEC §5.3: one maintainer's word, for any document that is not a policy or a maintainer. */
export async function readSignedDocument<K extends DocumentKind>(
  source: Source,
  entry: Entry,
  kind: K,
  trust: Trust,
  suite: Suite,
): Promise<ParsedRecord<K>> {
  const document = await readDocument(source, entry, kind, trust.repoId);
  await assertSignedByMaintainer(document, trust.identities, suite);
  return document;
}

/** Policies that hold, by the one before and the bytes that follow: for whoever reads those of many trees. */
export type KnownPolicies = Map<string, Policy>;

/** A repository is called by its first policy. */
export function rootOf(genesis: Policy): string {
  return genesis.id.slice('sha256:'.length);
}

interface PolicyOptions {
  knownPolicies?: KnownPolicies;
  /** Of another root only the first is read: whoever asks for one has no use for more. */
  root?: string | undefined;
  /** In order, where the folder itself is too large to be listed. */
  named?: AsyncIterable<Entry>;
}

/** The versions that hold, in order. The first that does not ends the list: nothing after it can be trusted. */
export async function readPolicies(
  source: Source,
  suite: Suite,
  report: Report,
  { knownPolicies = new Map(), root, named }: PolicyOptions = {},
): Promise<Policy[]> {
  const entries = named ?? (await policyEntries(source));
  if (Array.isArray(entries) && entries.length === 0) throw notInitialised();
  const policies: Policy[] = [];
  for await (const entry of entries) {
    const key = `${policies.at(-1)?.id ?? ''} ${entry.name} ${entry.oid}`;
    const read = () => readNext(source, entry, policies, suite);
    const policy = (entry.oid !== null && knownPolicies.get(key)) || (await attempt(entry.path, report, read));
    if (!policy) break;
    knownPolicies.set(key, policy);
    policies.push(policy);
    if (root !== undefined && rootOf(policies[0]!) !== root) break;
  }
  return policies;
}

async function readNext(source: Source, entry: Entry, before: readonly Policy[], suite: Suite): Promise<Policy> {
  const repoId = before[0] ? rootOf(before[0]) : null;
  const next = readPolicy(await readDocument(source, entry, 'policy', repoId), suite);
  assertPlaced(next.document, entry);
  await assertSucceeds(next, before.at(-1) ?? null, repoId, suite);
  return next;
}

async function policyEntries(source: Source): Promise<Entry[]> {
  const folder = await find(source, `${ROOT}/policy`);
  if (folder?.mode !== FOLDER) return [];
  const named = (await source.list(folder))
    .filter((entry) => entry.mode === FILE)
    .map((entry) => ({ entry, name: parsePolicyName(entry.name) }))
    .filter(({ name }) => name && !name.pending)
    .sort((a, b) => a.name!.version - b.name!.version);
  return named.map(({ entry }) => entry);
}

/** SPEC §5.3: the path says which version of a policy it is, and whose identity; also of what waits for signatures. */
export function assertPlaced({ kind, fields }: ParsedRecord, entry: Entry): void {
  if (kind === 'policy') assertSays('version', parsePolicyName(entry.name)!.version, fields.version);
  if (kind === 'identity') assertSays('name', entry.path.split('/')[2]!, fields.name);
}

function assertSays(key: string, expected: string | number, found: unknown): void {
  if (found === expected) return;
  throw new HandoffError('path_mismatch', `${key}: expected ${expected} as in the path, found ${found}`, {
    hint: 'A document is valid only at the path of its name and version: restore the file from git.',
    data: { expected: String(expected), found: String(found) },
  });
}

type Base = Pick<Trust, 'repoId' | 'policy'>;

/** Maintainers first, by the root's threshold; then those whom a maintainer signed in. SPEC §5.4 */
async function readIdentities(
  source: Source,
  base: Base,
  suite: Suite,
  report: Report,
): Promise<Pick<Trust, 'identities' | 'distrusted'>> {
  const parsed = await parseIdentities(source, base.repoId, suite, report);
  const trusted = new Map<string, Identity>();
  const distrusted = new Map<string, Identity>();
  const owners = new Map<string, string>();
  const admit = async ({ entry, identity }: Candidate, check: () => Promise<void>): Promise<void> => {
    const note: Report = (found) => {
      if (found.code === 'key_revoked') distrusted.set(identity.name, identity);
      report(found);
    };
    const admitted = await attempt(entry.path, note, async () => {
      await check();
      assertOwnKeys(identity, owners);
      return identity;
    });
    if (!admitted) return;
    trusted.set(identity.name, identity);
    for (const { fingerprint } of identity.keys) owners.set(fingerprint, identity.name);
  };
  for (const candidate of parsed.filter(isMaintainer))
    await admit(candidate, () => assertMaintainer(candidate.identity, base.policy, suite));
  const signers = new Map(trusted);
  for (const candidate of parsed.filter((each) => !isMaintainer(each)))
    await admit(candidate, () => assertSignedByMaintainer(candidate.identity.document, signers, suite));
  return { identities: trusted, distrusted };
}

interface Candidate {
  entry: Entry;
  identity: Identity;
}

function isMaintainer({ identity }: Candidate): boolean {
  return identity.role === 'maintainer';
}

async function parseIdentities(source: Source, repoId: string, suite: Suite, report: Report): Promise<Candidate[]> {
  const folder = await find(source, `${ROOT}/identities`);
  const folders = folder?.mode === FOLDER ? await source.list(folder) : [];
  const limit = limiter(FOLDERS_AT_ONCE);
  const found = folders.map((entry) => limit(1, () => parseIdentity(source, entry, repoId, suite, report)));
  return (await Promise.all(found)).filter((candidate) => candidate !== null);
}

async function parseIdentity(
  source: Source,
  folder: Entry,
  repoId: string,
  suite: Suite,
  report: Report,
): Promise<Candidate | null> {
  if (folder.mode !== FOLDER || !isIdentityName(folder.name)) return null;
  const files = (await attempt(folder.path, report, () => source.list(folder))) ?? [];
  const entry = files.find((file) => file.name === 'identity.yaml' && file.mode === FILE);
  if (!entry) return null;
  const identity = await attempt(entry.path, report, async () => {
    const found = readIdentity(await readDocument(source, entry, 'identity', repoId), suite);
    assertPlaced(found.document, entry);
    return found;
  });
  return identity && { entry, identity };
}

/** SPEC §5.5: a key speaks for one identity. */
function assertOwnKeys({ keys }: Identity, owners: ReadonlyMap<string, string>): void {
  const shared = keys.find(({ fingerprint }) => owners.has(fingerprint))?.fingerprint;
  if (shared === undefined) return;
  throw new HandoffError('signer_not_entitled', `The key ${shared} already belongs to ${owners.get(shared)}.`, {
    hint: 'Give each identity a key of its own.',
    data: { expected: 'a key of its own', found: shared },
  });
}

/** A document of the kind its place demands, written for this repository. */
export async function readDocument<K extends DocumentKind>(
  source: Source,
  entry: Entry,
  kind: K,
  repoId: string | null,
): Promise<ParsedRecord<K>> {
  const document = parseDocument(await source.read(entry, MAX_RECORD_BYTES), kind);
  if (document.fields.repo !== (repoId ?? undefined)) {
    // M23, M25: whoever reads a policy says the same of it
    const code = kind === 'policy' ? 'policy_invalid' : 'repo_mismatch';
    throw new HandoffError(code, `repo: expected ${repoId}, found ${document.fields.repo}`, {
      hint: 'The document was written for another repository; it proves nothing here.',
      data: { expected: String(repoId), found: String(document.fields.repo) },
    });
  }
  if (kind !== 'policy') assertBeginning(document); // what a policy follows is judged with the one before it
  return document;
}

export function parseDocument<K extends DocumentKind>(bytes: Uint8Array, kind: K): ParsedRecord<K> {
  const document = parseRecord(bytes);
  if (hasKind(document, kind)) return document;
  throw new HandoffError('path_mismatch', `kind: expected ${kind}, found ${document.kind}`, {
    hint: 'A document is valid only at the path of its kind.',
    data: { expected: kind, found: document.kind },
  });
}

/** identities/<name>/skill.md is trusted by the digest that the signed identity names. SPEC §5.6 */
export async function checkSkill(
  source: Source,
  entry: Entry,
  identity: Identity | undefined,
  suite: Suite,
  report: Report,
): Promise<void> {
  const expected = identity?.document.fields.skill;
  const found = recordId(await source.read(entry, MAX_RECORD_BYTES), suite);
  if (found === expected) return;
  report(
    finding(
      'signature_invalid',
      entry.path,
      expected ?? 'no skill.md: the identity names none',
      found,
      'Restore it from git.',
    ),
  );
}
