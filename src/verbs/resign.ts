import { readLayout } from '../audit/layout.ts';
import { type Entry, FILE } from '../audit/source.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { type ParsedRecord, parseRecord } from '../core/record.ts';
import type { Trust } from '../core/trust.ts';
import type { FileToWrite } from '../journal/files.ts';
import { addSignature } from '../journal/sign.ts';
import { currentSource } from './current.ts';
import type { Repository } from './repository.ts';
import { type Actor, maintainerSigner } from './signing.ts';

/**
 * What a maintainer's revoked keys had signed (agents, tasks, the project) would fall with them. Whoever revokes vouches
 * for it instead; the result names every file so that a person can look.
 */
export async function resignDocuments(
  repository: Repository,
  trust: Trust,
  signer: string,
  fingerprints: ReadonlySet<string>,
  actor: Actor,
): Promise<FileToWrite[]> {
  const files: FileToWrite[] = [];
  for (const { entry, document } of await signedBy(repository, signer, fingerprints)) {
    const named = await maintainerSigner(repository, trust, actor);
    files.push({ path: entry.path, bytes: (await addSignature(document, named)).bytes, replaces: true });
  }
  return files;
}

async function signedBy(
  repository: Repository,
  signer: string,
  fingerprints: ReadonlySet<string>,
): Promise<{ entry: Entry; document: ParsedRecord }[]> {
  const source = await currentSource(repository);
  const layout = await readLayout(source, () => {});
  const identities = layout.identities.flatMap(({ files }) => files.filter(({ name }) => name === 'identity.yaml'));
  const entries = [...identities, ...layout.tasks, ...(layout.project ? [layout.project] : [])].filter(
    ({ mode }) => mode === FILE,
  );
  const found: { entry: Entry; document: ParsedRecord }[] = [];
  for (const entry of entries) {
    const document = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
    const isHit = document.signatures.some((line) => line.identity === signer && fingerprints.has(line.fingerprint));
    if (isHit && document.fields.role !== 'maintainer') found.push({ entry, document });
  }
  return found;
}
