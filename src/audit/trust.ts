import { HandoffError } from '../core/error.ts';
import type { DocumentKind } from '../core/kinds.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { isIdentityName } from '../core/names.ts';
import { parsePolicyName, ROOT } from '../core/paths.ts';
import { type ParsedRecord, parseRecord } from '../core/record.ts';
import {
  assertMaintainer,
  assertSignedByMaintainer,
  assertSucceeds,
  type Identity,
  type Policy,
  readIdentity,
  readPolicy,
  type Trust,
} from '../core/trust.ts';
import { recordId, type Suite } from '../core/verify.ts';
import { attempt, finding, type Report } from './finding.ts';
import { FOLDERS_AT_ONCE, limiter } from './limit.ts';
import { type Entry, FILE, FOLDER, find, type Source } from './source.ts';

/**
 * Who a tree says is trusted, SPEC §5: its policies from genesis on, then maintainers, then everyone they signed in.
 * Null when not even the genesis holds; every file that fails is reported.
 */
export async function loadTrust(source: Source, suite: Suite, report: Report): Promise<Trust | null> {
  const policies = await readPolicies(source, suite, report);
  const genesis = policies[0];
  if (!genesis) return null;
  const repoId = genesis.id.slice('sha256:'.length);
  const policy = policies.at(-1)!;
  const policyIds = policies.map(({ id }) => id);
  return { repoId, policy, policyIds, identities: await readIdentities(source, { repoId, policy }, suite, report) };
}

/** Where there is none, nobody is trusted, and nothing is protected. */
export async function hasPolicy(source: Source): Promise<boolean> {
  return (await find(source, `${ROOT}/policy`))?.mode === FOLDER;
}

function notInitialised(): HandoffError {
  return new HandoffError('not_initialised', 'There is no .handoff/policy here: git-handoff is not initialised.', {
    hint: 'git handoff init',
  });
}

/** SPEC §5.3: one maintainer's word, for any document that is not a policy or a maintainer. */
export async function readSignedDocument(
  source: Source,
  entry: Entry,
  kind: DocumentKind,
  trust: Trust,
  suite: Suite,
): Promise<ParsedRecord> {
  const document = await readDocument(source, entry, kind, trust.repoId);
  await assertSignedByMaintainer(document, trust.identities, suite);
  return document;
}

/** The versions that hold, in order. The first that does not ends the list: nothing after it can be trusted. */
export async function readPolicies(source: Source, suite: Suite, report: Report): Promise<Policy[]> {
  const policies: Policy[] = [];
  for (const entry of await policyEntries(source)) {
    const prior = policies.at(-1) ?? null;
    const repoId = policies[0]?.id.slice('sha256:'.length) ?? null;
    const policy = await attempt(entry.path, report, async () => {
      const next = readPolicy(await readDocument(source, entry, 'policy', repoId), suite);
      assertVersion(next, entry);
      await assertSucceeds(next, prior, repoId, suite);
      return next;
    });
    if (!policy) break;
    policies.push(policy);
  }
  return policies;
}

async function policyEntries(source: Source): Promise<Entry[]> {
  const folder = await find(source, `${ROOT}/policy`);
  if (folder?.mode !== FOLDER) throw notInitialised();
  const named = (await source.list(folder))
    .filter((entry) => entry.mode === FILE)
    .map((entry) => ({ entry, name: parsePolicyName(entry.name) }))
    .filter(({ name }) => name && !name.pending)
    .sort((a, b) => a.name!.version - b.name!.version);
  if (named.length === 0) throw notInitialised();
  return named.map(({ entry }) => entry);
}

function assertVersion(policy: Policy, entry: Entry): void {
  const { version } = parsePolicyName(entry.name)!;
  if (version === policy.version) return;
  throw new HandoffError('path_mismatch', `version: expected ${version} as in the file name, found ${policy.version}`, {
    hint: 'Restore the file from git.',
    data: { expected: String(version), found: String(policy.version) },
  });
}

type Base = Pick<Trust, 'repoId' | 'policy'>;

/** Maintainers first, by the root's threshold; then those whom a maintainer signed in. SPEC §5.4 */
async function readIdentities(
  source: Source,
  base: Base,
  suite: Suite,
  report: Report,
): Promise<Map<string, Identity>> {
  const parsed = await parseIdentities(source, base.repoId, suite, report);
  const trusted = new Map<string, Identity>();
  const admit = async (entry: Entry, identity: Identity, check: () => Promise<void>): Promise<void> => {
    const admitted = await attempt(entry.path, report, async () => {
      await check();
      assertOwnKeys(identity, trusted);
      return identity;
    });
    if (admitted) trusted.set(identity.name, identity);
  };
  const maintainers = parsed.filter(({ identity }) => identity.role === 'maintainer');
  for (const { entry, identity } of maintainers) {
    await admit(entry, identity, () => assertMaintainer(identity, base.policy, suite));
  }
  const signers = new Map(trusted);
  for (const { entry, identity } of parsed.filter((candidate) => !maintainers.includes(candidate))) {
    await admit(entry, identity, () => assertSignedByMaintainer(identity.document, signers, suite));
  }
  return trusted;
}

interface Candidate {
  entry: Entry;
  identity: Identity;
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
    assertNamed(found, folder.name);
    return found;
  });
  return identity && { entry, identity };
}

function assertNamed(identity: Identity, folder: string): void {
  if (identity.name === folder) return;
  throw new HandoffError('path_mismatch', `name: expected ${folder} as in the path, found ${identity.name}`, {
    hint: 'An identity is valid only in the folder of its name.',
    data: { expected: folder, found: identity.name },
  });
}

/** SPEC §5.5: a key speaks for one identity. */
function assertOwnKeys(identity: Identity, trusted: ReadonlyMap<string, Identity>): void {
  for (const other of trusted.values()) {
    const shared = other.keys.find((key) => identity.keys.some((own) => own.fingerprint === key.fingerprint));
    if (!shared) continue;
    throw new HandoffError('signer_not_entitled', `The key ${shared.fingerprint} already belongs to ${other.name}.`, {
      hint: 'Give each identity a key of its own.',
      data: { expected: 'a key of its own', found: shared.fingerprint },
    });
  }
}

/** A document of the kind its place demands, written for this repository. */
export async function readDocument(
  source: Source,
  entry: Entry,
  kind: DocumentKind,
  repoId: string | null,
): Promise<ParsedRecord> {
  const document = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
  if (document.kind !== kind) {
    throw new HandoffError('path_mismatch', `kind: expected ${kind}, found ${document.kind}`, {
      hint: 'A document is valid only at the path of its kind.',
      data: { expected: kind, found: document.kind },
    });
  }
  if (document.fields.repo !== (repoId ?? undefined)) {
    throw new HandoffError('repo_mismatch', `repo: expected ${repoId}, found ${document.fields.repo}`, {
      hint: 'The document was written for another repository; it proves nothing here.',
      data: { expected: String(repoId), found: String(document.fields.repo) },
    });
  }
  return document;
}

/** identities/<name>/skill.md is trusted by the digest that the signed identity names. SPEC §5.6 */
export async function checkSkill(
  source: Source,
  entry: Entry,
  identity: Identity | undefined,
  suite: Suite,
  report: Report,
): Promise<void> {
  const expected = identity?.document.fields.skill as string | undefined;
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
