import type { Trust } from '../../core/trust/trust.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { type Actor, maintainerSigner } from '../../journal/keys/signers.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import {
  assertKnown,
  isDistrusted,
  isNamed,
  type MaintainedDocument,
  maintainedDocuments,
  planResign,
} from '../../trust/resign.ts';

export interface IdentityResignOptions extends PublishOptions, Actor {
  /** Names or paths. */
  document?: readonly string[];
  /** Every document that only revoked keys have signed. */
  all?: boolean;
}

export interface IdentityResignResult {
  resigned: string[];
  /** What only revoked keys have signed still. */
  distrusted: string[];
  commit: string | null;
}

/** A maintainer vouches for documents that somebody else has signed, whose key counts no more. SPEC §5.5 */
export async function identityResign(
  repository: Repository,
  { document: names = [], all = false, ...options }: IdentityResignOptions = {},
): Promise<IdentityResignResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const documents = await maintainedDocuments(await currentSource(repository));
  assertKnown(documents, names);
  const distrusted = await distrustedAmong(documents, trust);
  const meant = documents.filter(
    (each) => (all && distrusted.includes(each)) || names.some((name) => isNamed(each, name)),
  );
  const left = distrusted.filter((each) => !meant.includes(each)).map(({ path }) => path);
  if (meant.length === 0) return { resigned: [], distrusted: left, commit: null };
  const signer = await maintainerSigner(repository, trust, options);
  const { files, resigned } = await planResign(meant, { named: [], all: true, since: null }, signer);
  const message = `handoff: ${signer.identity} signs ${resigned.length === 1 ? 'a document' : `${resigned.length} documents`} anew`;
  const commit = await publish(repository, { files, message, identity: signer.identity }, options);
  return { resigned, distrusted: left, commit };
}

async function distrustedAmong(documents: readonly MaintainedDocument[], trust: Trust): Promise<MaintainedDocument[]> {
  const found: MaintainedDocument[] = [];
  for (const each of documents) if (await isDistrusted(each, trust)) found.push(each);
  return found;
}
