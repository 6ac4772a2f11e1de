import { FILE, find, type Source } from '../audit/source/source.ts';
import { readDocument } from '../audit/trust/trust.ts';
import { HandoffError } from '../core/error.ts';
import { identityPath, policyPath, ROOT } from '../core/paths.ts';
import type { DocumentKind } from '../core/record/kinds.ts';
import type { ParsedRecord } from '../core/record/record.ts';
import { recordId } from '../core/record/verify.ts';
import {
  assertFollows,
  isNextVersion,
  type RootKeys,
  readIdentity,
  readPolicy,
  rootSigners,
  type Trust,
} from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Directories, GitAccess, Messages } from '../repository/parts.ts';
import { currentSource } from '../repository/trusted-now.ts';
import { describeChanges } from './document-changes.ts';

/** A document as whoever signs it sees it. */
export interface ShownDocument {
  /** What it is called: `policy/4`, `identity/olga`. */
  document: string;
  path: string;
  kind: DocumentKind;
  version: number;
  /** The digest of exactly these words. */
  id: string;
  /** Whose signatures it bears. */
  signed_by: string[];
  /** What it says that the version before it did not. */
  changes: string[];
}

/** One that waits for root principals. `identity` is whom it is about; null for the policy. */
export type Waiting = WaitingPolicy | WaitingIdentity;

interface WaitingPolicy {
  identity: null;
  document: ParsedRecord<'policy'>;
  shown: ShownDocument;
}

interface WaitingIdentity {
  identity: string;
  document: ParsedRecord<'identity'>;
  shown: ShownDocument;
}

export function isOfPolicy(waiting: Waiting): waiting is WaitingPolicy {
  return waiting.identity === null;
}

/** Tells the proposer of a new version which proposal it replaces: that one is no longer to be signed. */
export function tellReplaced(repository: Messages, { shown }: Waiting): void {
  const { document, signed_by, changes } = shown;
  const what = changes.length === 0 ? '' : `: ${changes.join('; ')}`;
  repository.warn(`It takes the place of ${document}, which waited, signed by ${signed_by.join(', ')}${what}`);
}

/** Tells whoever signs a policy who comes into force with it: that one is not signed, and waited for nothing else. */
export function tellAlong(repository: Messages, { shown }: Waiting): void {
  const { document, signed_by, changes } = shown;
  repository.warn(`${document} comes into force with it, signed by ${signed_by.join(', ')}: ${changes.join('; ')}`);
}

/** What waits for signatures and follows what is in force. Anybody can put a file there: one that is no such document is told of. */
export async function readWaiting(repository: GitAccess & Directories & Messages, trust: Trust): Promise<Waiting[]> {
  const source = await currentSource(repository);
  const next = await tryRead(repository, () => readWaitingPolicy(source, trust));
  const found: (Waiting | null)[] = [next];
  const roots = rootsOf(trust, next?.document);
  const folder = await find(source, `${ROOT}/identities`);
  for (const { name } of folder ? await source.list(folder) : [])
    found.push(await tryRead(repository, () => readWaitingIdentity(source, trust, roots, name)));
  return found.filter((each) => each !== null);
}

async function tryRead<T extends Waiting>(repository: Messages, read: () => Promise<T | null>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HandoffError) || error.exitCode !== 1) throw error;
    repository.warn(`A file that waits for signatures is left alone: ${error.message}`);
    return null;
  }
}

/** Who may sign what waits. A name means the key that it has now: whoever proposes a policy may give it any other. */
function rootsOf({ policy }: Trust, next: ParsedRecord<'policy'> | undefined): RootKeys[] {
  const { root } = policy;
  if (!next) return [root];
  const coming = readPolicy(next, nodeSuite).root;
  return [
    root,
    { ...coming, principals: new Map([...coming.principals].filter(([name]) => !root.principals.has(name))) },
  ];
}

/** Anybody can write a line: only those count whose keys may sign it. */
async function showWaiting(
  shown: ShownDocument,
  document: ParsedRecord,
  roots: readonly RootKeys[],
): Promise<ShownDocument> {
  const signers = await Promise.all(roots.map((root) => rootSigners(document, root, nodeSuite)));
  return { ...shown, signed_by: shown.signed_by.filter((name) => signers.some((each) => each.has(name))) };
}

async function readWaitingPolicy(source: Source, trust: Trust): Promise<WaitingPolicy | null> {
  const { policy, repoId } = trust;
  const path = policyPath(policy.version + 1, true);
  const document = await readIfThere(source, path, 'policy', repoId);
  if (!document) return null;
  assertFollows(readPolicy(document, nodeSuite), policy, repoId);
  const shown = await showWaiting(show(document, path, policy.document), document, rootsOf(trust, document));
  return { identity: null, document, shown };
}

async function readWaitingIdentity(
  source: Source,
  trust: Trust,
  roots: readonly RootKeys[],
  name: string,
): Promise<WaitingIdentity | null> {
  const path = identityPath(name, true);
  const document = await readIfThere(source, path, 'identity', trust.repoId);
  const identity = document && readIdentity(document, nodeSuite);
  const inForce = trust.identities.get(name) ?? null;
  // an older version that waits again would bring back a key that was revoked since
  if (!identity || identity.name !== name || !isNextVersion(document, inForce)) return null;
  const shown = await showWaiting(show(document, path, inForce?.document ?? null), document, roots);
  return { identity: name, document, shown };
}

async function readIfThere<K extends DocumentKind>(
  source: Source,
  path: string,
  kind: K,
  repoId: string,
): Promise<ParsedRecord<K> | null> {
  const entry = await find(source, path);
  return entry?.mode === FILE ? readDocument(source, entry, kind, repoId) : null;
}

/** `before` is what it is compared with: the version in force. */
export function show(
  document: ParsedRecord<'policy' | 'identity'>,
  path: string,
  before: ParsedRecord | null,
): ShownDocument {
  const { kind, fields, signedBytes, signatures } = document;
  return {
    document: kind === 'policy' ? `policy/${fields.version}` : `identity/${fields.name}`,
    path,
    kind,
    version: fields.version,
    id: recordId(signedBytes, nodeSuite),
    signed_by: [...new Set(signatures.map(({ identity }) => identity))],
    changes: describeChanges(document, before),
  };
}
