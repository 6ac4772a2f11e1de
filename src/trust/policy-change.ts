import { listedBy, principalsOf } from '../audit/trust/signature-lines.ts';
import type { YamlMap } from '../core/bytes/yaml.ts';
import { identityPath, policyPath } from '../core/paths.ts';
import { type ParsedRecord, parseAs } from '../core/record/record.ts';
import type { PublicKey } from '../core/record/verify.ts';
import { assertFollows, type Policy, type RootKeys, readPolicy, rootSigners, type Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { FileToWrite } from '../disk/tree-files.ts';
import { addSignature, type NamedSigner, type SignedDocument, signDocument } from '../journal/keys/sign.ts';
import { keyLine, rootSigner } from '../journal/keys/signers.ts';
import type { Directories, Settings, TimeAndHost } from '../repository/parts.ts';
import { type ShownDocument, show } from './waiting.ts';

/** A policy version on its way: complete, or waiting for more signatures. */
export interface PolicyChange {
  policy: Policy;
  files: FileToWrite[];
  removed: string[];
  signedBy: string[];
  pending: boolean;
  root: RootKeys;
  /** Every document that gets a signature by it. */
  signed: ShownDocument[];
}

/** The next version with some keys changed. SPEC §5.2 */
export function nextPolicy(trust: Trust, changes: YamlMap, at: string): YamlMap & { kind: 'policy' } {
  const { nonce: _, repo: __, handoff, kind, ...rest } = trust.policy.document.fields;
  return {
    handoff,
    kind,
    repo: trust.repoId,
    ...rest,
    version: trust.policy.version + 1,
    prev: trust.policy.id,
    at,
    ...changes,
  };
}

/** A signed version → the files it takes: the policy itself, or its pending form, and maintainers its signers vouch for. */
export async function planPolicy(
  trust: Trust,
  signed: SignedDocument<'policy'>,
  signers: readonly NamedSigner[],
): Promise<PolicyChange> {
  const policy = readPolicy(signed.document, nodeSuite);
  assertFollows(policy, trust.policy, trust.repoId);
  const old = await rootSigners(signed.document, trust.policy.root, nodeSuite);
  const own = await rootSigners(signed.document, policy.root, nodeSuite);
  const pending = old.size < trust.policy.root.threshold || own.size < policy.root.threshold;
  const path = policyPath(policy.version, pending);
  const vouched = await vouchForMaintainers(trust, policy.root, signers);
  const shown = vouched.map((file) => showVouched(file, trust));
  return {
    policy,
    files: [{ path, bytes: signed.bytes, replaces: pending }, ...vouched],
    removed: [],
    signedBy: [...new Set([...old, ...own])],
    pending,
    root: policy.root,
    signed: [show(signed.document, path, trust.policy.document), ...shown],
  };
}

/**
 * Maintainers are judged by the newest root, SPEC §5.4, so a change of root keys or threshold would drop them. Whoever
 * signs a policy therefore signs every maintainer again too.
 */
async function vouchForMaintainers(
  trust: Trust,
  root: RootKeys,
  signers: readonly NamedSigner[],
): Promise<FileToWrite[]> {
  const files: FileToWrite[] = [];
  for (const { name, role, document } of trust.identities.values()) {
    if (role !== 'maintainer') continue;
    const yetToSign = signers.filter((named) => isOfRoot(named, root) && !hasSigned(document, named));
    const signed = await signInTurn(withoutStrayLines(document, trust, root), yetToSign);
    if (signed) files.push({ path: identityPath(name), bytes: signed, replaces: true });
  }
  return files;
}

/** A key that nobody lists, and the next policy does not bring, has signed for nothing: such lines could fill the file. SPEC §10.3.3 */
function withoutStrayLines(document: ParsedRecord<'identity'>, trust: Trust, root: RootKeys): ParsedRecord<'identity'> {
  const [listed, coming] = [listedBy(trust), principalsOf(root)];
  return { ...document, signatures: document.signatures.filter((line) => listed(line) ?? coming(line)) };
}

async function signInTurn(
  document: ParsedRecord<'identity'>,
  signers: readonly NamedSigner[],
): Promise<Uint8Array | null> {
  let bytes: Uint8Array | null = null;
  for (const named of signers) bytes = (await addSignature(bytes ? parseAs(bytes, 'identity') : document, named)).bytes;
  return bytes;
}

/** It says what it said before: it has one more signature. */
function showVouched({ path, bytes }: FileToWrite, { identities }: Trust): ShownDocument {
  const document = parseAs(bytes, 'identity');
  return show(document, path, identities.get(document.fields.name)!.document);
}

function isOfRoot({ identity, signer }: NamedSigner, root: RootKeys): boolean {
  return root.principals.get(identity)?.fingerprint === signer.publicKey.fingerprint;
}

function hasSigned(document: ParsedRecord, { identity, signer }: NamedSigner): boolean {
  const { fingerprint } = signer.publicKey;
  return document.signatures.some((line) => line.identity === identity && line.fingerprint === fingerprint);
}

export interface RootKeyChange extends PolicyChange {
  newSigner: NamedSigner;
}

/** The next policy with one principal's key replaced, signed with the old key and the new one. */
export async function planRootKey(
  repository: Directories & Settings & TimeAndHost,
  trust: Trust,
  name: string,
  key: PublicKey,
): Promise<RootKeyChange> {
  const { root } = trust.policy;
  const keys = [...root.principals].map(([other, old]) => `${other} ${keyLine(other === name ? key : old)}`);
  const fields = nextPolicy(trust, { root: { threshold: root.threshold, keys } }, repository.now().toISOString());
  const oldSigner = await rootSigner(repository, trust.repoId, root, { as: name });
  const newSigner = await rootSigner(
    repository,
    trust.repoId,
    { threshold: 1, principals: new Map([[name, key]]) },
    { as: name },
  );
  const signed = await signDocument(fields, [oldSigner, newSigner]);
  return { ...(await planPolicy(trust, signed, [newSigner])), newSigner };
}
