import { type Entry, FILE, find, type Source } from '../audit/source/source.ts';
import { readLayout } from '../audit/tree/layout.ts';
import { asHandoffError, HandoffError } from '../core/error.ts';
import type { IdentityDocument } from '../core/generated/types.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import type { DocumentKind, FieldsOf } from '../core/record/kinds.ts';
import { isDocument, type ParsedRecord, parseRecord } from '../core/record/record.ts';
import { recordId } from '../core/record/verify.ts';
import { assertSignedByMaintainer, type Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { FileToWrite } from '../disk/tree-files.ts';
import { addSignature, type NamedSigner, signDocument } from '../journal/keys/sign.ts';

/** What a maintainer signs: an agent, a task, the project. */
export interface MaintainedDocument {
  path: string;
  document: Maintained;
}

type MaintainedKind = Exclude<DocumentKind, 'policy'>;
type Maintained = ParsedRecord<MaintainedKind>;

/** What a maintainer who vouches for another's documents has confirmed. */
export interface Confirmation {
  /** Names or paths. */
  named: readonly string[];
  all: boolean;
  /** A tree in which all of them were still right; null where nobody named one. */
  since: Source | null;
}

/** What becomes of documents that only keys which do not count had signed. */
export interface ResignPlan {
  files: FileToWrite[];
  /** Files that go. */
  removed: string[];
  /** Signed anew, as they are. */
  resigned: string[];
  /** Set back to what they said before the key was misused. */
  withdrawn: string[];
  /** Left as they are: they count for nothing until somebody signs them. */
  distrusted: string[];
}

export async function maintainedDocuments(source: Source): Promise<MaintainedDocument[]> {
  const layout = await readLayout(source, () => {});
  const identities = layout.identities.flatMap(({ files }) => files.filter(({ name }) => name === 'identity.yaml'));
  const entries = [...identities, ...layout.tasks, ...(layout.project ? [layout.project] : [])];
  const found: MaintainedDocument[] = [];
  for (const entry of entries.filter(({ mode }) => mode === FILE)) {
    const document = await readIfParsed(source, entry);
    if (document && !isMaintainer(document)) found.push({ path: entry.path, document });
  }
  return found;
}

/** Maintainers are signed in by root principals. */
function isMaintainer(document: Maintained): boolean {
  return document.kind === 'identity' && document.fields.role === 'maintainer';
}

/** Whether nobody has signed it but keys that were revoked. */
export async function isDistrusted({ document }: MaintainedDocument, { identities }: Trust): Promise<boolean> {
  try {
    await assertSignedByMaintainer(document, identities, nodeSuite);
    return false;
  } catch (error) {
    return asHandoffError(error).code === 'key_revoked';
  }
}

/** What cannot be read is told of by `verify`, and keeps no key from being revoked. */
async function readIfParsed(source: Source, entry: Entry): Promise<Maintained | null> {
  try {
    const record = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
    return isDocument(record) && record.kind !== 'policy' ? record : null;
  } catch (error) {
    asHandoffError(error);
    return null;
  }
}

/**
 * SPEC §5.5: whoever holds a stolen key can have signed anything with it. So what gives power, an agent, is signed anew only if
 * a person has confirmed it: by name, or by a time at which it stood there already. Without such a time tasks and the project
 * are confirmed: they give nobody power, and rules would fall with them.
 */
export async function planResign(
  documents: readonly MaintainedDocument[],
  confirmation: Confirmation,
  signer: NamedSigner | null,
): Promise<ResignPlan> {
  assertKnown(documents, confirmation.named);
  const plan: ResignPlan = { files: [], removed: [], resigned: [], withdrawn: [], distrusted: [] };
  for (const each of documents) {
    const old = confirmation.since && (await readAt(confirmation.since, each.path));
    const step = signer && (isConfirmed(each, confirmation, old) ? 'resigned' : old ? 'withdrawn' : null);
    plan[step ?? 'distrusted'].push(each.path);
    if (step === 'resigned') plan.files.push(toFile(each, (await addSignature(each.document, signer!)).bytes));
    if (step === 'withdrawn')
      plan.files.push(toFile(each, (await signDocument(setBack(each.document, old!), [signer!])).bytes));
  }
  return plan;
}

function toFile({ path }: MaintainedDocument, bytes: Uint8Array): FileToWrite {
  return { path, bytes, replaces: true };
}

function isConfirmed(each: MaintainedDocument, { named, all, since }: Confirmation, old: Maintained | null): boolean {
  if (all || named.some((name) => isNamed(each, name))) return true;
  if (since) return old !== null && idOf(old) === idOf(each.document);
  return each.document.kind !== 'identity';
}

async function readAt(source: Source, path: string): Promise<Maintained | null> {
  const entry: Entry | null = await find(source, path);
  return entry?.mode === FILE ? readIfParsed(source, entry) : null;
}

/** The next version, with what an earlier one said. A key never vanishes: one that came since is revoked. SPEC §10.3.2 */
function setBack(now: Maintained, old: Maintained): FieldsOf<MaintainedKind> {
  const next = { version: now.fields.version + 1, prev: idOf(now) };
  if (old.kind !== 'identity' || now.kind !== 'identity') return { ...old.fields, ...next };
  return { ...old.fields, ...next, keys: keysBack(now.fields.keys, old.fields.keys) };
}

type KeyField = IdentityDocument['keys'][number];

function keysBack(now: readonly KeyField[], old: readonly KeyField[]): KeyField[] {
  return now.map((each) => {
    const before = old.find(({ key }) => key === each.key);
    if (!before) return { ...each, state: 'revoked' };
    return each.state === 'active' ? before : each; // a state never goes back
  });
}

function idOf({ signedBytes }: ParsedRecord): string {
  return recordId(signedBytes, nodeSuite);
}

/** By path, with or without the folder; an agent by its name, a task by its id. */
export function isNamed({ path, document }: MaintainedDocument, name: string): boolean {
  return [path, path.slice('.handoff/'.length), ...namesOf(document)].includes(name);
}

function namesOf({ kind, fields }: Maintained): string[] {
  if (kind === 'task-definition') return [fields.task_id];
  return kind === 'identity' ? [fields.name] : [];
}

export function assertKnown(documents: readonly MaintainedDocument[], names: readonly string[]): void {
  const unknown = names.find((name) => !documents.some((each) => isNamed(each, name)));
  if (unknown === undefined) return;
  throw new HandoffError('usage', `No document that waits to be signed anew is called ${JSON.stringify(unknown)}.`, {
    hint: documents.length === 0 ? 'There is none.' : `There are: ${documents.map(({ path }) => path).join(', ')}`,
  });
}
