import { equalBytes, toHex } from '../../core/bytes/bytes.ts';
import { comparedIn, type Finding, HandoffError } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { planGrowth } from '../../core/ledger/log-growth.ts';
import { labelOf, type NoteSignature } from '../../core/ledger/note.ts';
import { oncePer } from '../../core/once.ts';
import { LEDGER, parseSessionFolder, ROOT } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { leafHash, merkleRoot } from '../../core/seal/merkle.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Report } from '../finding.ts';
import { type LedgerSeal, toSeal } from '../ledger/audit.ts';
import { assertComplete, hasNamed } from '../ledger/complete.ts';
import {
  findLeaves,
  type Ledger,
  ledgerVerifiers,
  noTiles,
  openCheckpoint,
  readEntriesFrom,
  readLedger,
} from '../ledger/ledger.ts';
import { type ListFiles, sealFinder } from '../ledger/seal-finder.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FOLDER, find, type Source } from '../source/source.ts';
import type { Difference, TreePair } from './differences.ts';

/** SPEC §11.4: the ledger grows by seals that are in the tree, under the signature of a maintainer, and in no other way. */
export async function auditLedgerStep(
  trees: TreePair,
  changes: readonly Difference[],
  { trust, suite }: { trust: Trust; suite: Suite },
  report: Report,
): Promise<void> {
  try {
    const [before, now] = await Promise.all([readLedger(trees.before), readLedger(trees.now)]);
    if (!now) throw rewritten('The ledger is gone.');
    await openCheckpoint(now, trust, suite);
    if (before) assertSignaturesKept(before, now, trust, suite);
    const entries = await readGrowth(before, now);
    await assertGrowth(trees, changes, { before, now, entries }, suite);
    const seals = entries.map((bytes, at) => toSeal((before?.checkpoint.size ?? 0) + at, bytes, trust.repoId));
    const source = remembering(trees.now);
    const files = await findInTree(source, seals, suite);
    await assertNew(seals, before, suite);
    if (entries.length > 0) await assertNoneLeftOut(now, before, { source, trust, suite }, files);
  } catch (error) {
    report(toFinding(error));
  }
}

/** While the text stays the same, no signature may be removed, such as a witness's; only signatures of revoked keys may go. */
function assertSignaturesKept(before: Ledger, now: Ledger, trust: Trust, suite: Suite): void {
  if (before.note.text !== now.note.text) return;
  const useless = new Set(ledgerVerifiers(trust, suite, isRevoked).map(labelOf));
  const kept = new Set(now.note.signatures.map(toText));
  const gone = before.note.signatures.find((line) => !kept.has(toText(line)) && !useless.has(labelOf(line)));
  if (gone) throw rewritten(`The signature of ${labelOf(gone)} was taken away from the checkpoint.`);
}

function toText(signature: NoteSignature): string {
  return `${labelOf(signature)} ${toHex(signature.bytes)}`;
}

interface Growth {
  before: Ledger | null;
  now: Ledger;
  entries: Uint8Array[];
}

/** What the ledger has more than before. Of the same size, only who signed it may be another. */
async function readGrowth(before: Ledger | null, now: Ledger): Promise<Uint8Array[]> {
  const from = before?.checkpoint ?? { size: 0, root: null };
  const { size, root } = now.checkpoint;
  if (size < from.size)
    throw rewritten(`The ledger went back from ${from.size} seals to ${size}.`, headsOf(before!, now));
  if (size === from.size && before && before.note.text !== now.note.text)
    throw rewritten(`Two ledgers of ${size} seals: ${toHex(from.root!)} and ${toHex(root)}.`, headsOf(before, now));
  return readEntriesFrom(now, from.size);
}

/** Makes sure that the ledger's files are what adding these entries makes, and that no other file changed. */
async function assertGrowth(
  trees: TreePair,
  changes: readonly Difference[],
  growth: Growth,
  suite: Suite,
): Promise<void> {
  const { before, now, entries } = growth;
  const from = before?.checkpoint ?? { size: 0, root: merkleRoot([], suite.sha256) };
  const plan = await planGrowth(from, entries, before?.read ?? noTiles, suite.sha256);
  if (!equalBytes(plan.root, now.checkpoint.root))
    throw rewritten(`The ledger does not extend the one that was there.`, before ? headsOf(before, now) : undefined);
  const written = new Map(plan.written.map(({ path, bytes }) => [`${LEDGER}/${path}`, bytes]));
  const removed = new Set(plan.removed.map((path) => `${LEDGER}/${path}`));
  for (const { path, now: entry } of changes) {
    if (path === `${LEDGER}/checkpoint`) continue;
    const expected = written.get(path);
    const isPlanned = entry === null ? removed.has(path) : expected && (await isAsExpected(trees.now, entry, expected));
    if (!isPlanned) throw rewritten(`${path} is not what appending to the ledger makes of it.`);
  }
  const touched = new Set(changes.map(({ path }) => path));
  for (const path of [...written.keys(), ...removed])
    if (!touched.has(path)) throw rewritten(`${path} is still what it was before the ledger grew.`);
}

async function isAsExpected(source: Source, entry: Entry, expected: Uint8Array): Promise<boolean> {
  return equalBytes(await source.read(entry, Math.max(expected.length, 1)), expected);
}

/** Folders are listed once, whoever asks. */
function remembering(source: Source): Source {
  const list = oncePer(
    (folder: Entry) => source.list(folder),
    ({ oid, path }) => `${oid} ${path}`,
  );
  return { ...source, list };
}

/** The files of these seals. */
async function findInTree(source: Source, seals: readonly LedgerSeal[], suite: Suite): Promise<Entry[]> {
  const findSeal = sealFinder(source, sessionLister(source), suite);
  const inTurn = limiter(FOLDERS_AT_ONCE);
  const files = await Promise.all(seals.map((seal) => inTurn(1, () => findSeal(seal))));
  const missing = seals.find((_, at) => files[at] === null);
  if (missing) throw rewritten(`${describe(missing)} is not in the tree.`);
  return files.filter((file) => file !== null);
}

/** Lists the folders of those identities alone whose seals are asked for. */
function sessionLister(source: Source): ListFiles {
  const owners = new Map<string, Promise<Map<string, Entry[]>>>();
  return async (identity, sid8) => {
    if (!owners.has(identity)) owners.set(identity, listSessions(source, identity));
    const lists: Entry[][] = [];
    for (const folder of (await owners.get(identity)!).get(sid8) ?? []) lists.push(await source.list(folder));
    return lists.flat();
  };
}

/** The folders of an identity's sessions, by what their ids begin with. */
async function listSessions(source: Source, identity: string): Promise<Map<string, Entry[]>> {
  const owner = await find(source, `${ROOT}/sessions/${identity}`);
  const entries = owner?.mode === FOLDER ? await source.list(owner) : [];
  const sessions = entries.filter(({ name, mode }) => mode === FOLDER && parseSessionFolder(name));
  return groupBy(sessions, ({ name }) => parseSessionFolder(name)!.sid8);
}

async function assertNew(seals: readonly LedgerSeal[], before: Ledger | null, suite: Suite): Promise<void> {
  const leaves = seals.map(({ bytes }) => leafHash(bytes, suite.sha256));
  const inLog = new Set(before ? (await findLeaves(before, leaves)).keys() : []);
  for (const [at, leaf] of leaves.entries()) {
    if (inLog.has(toHex(leaf))) throw rewritten(`${describe(seals[at]!)} was in it already.`);
    inLog.add(toHex(leaf));
  }
}

/** A folder that nobody has seen may turn up later, with seals that this ledger then seems to have. */
async function assertNoneLeftOut(
  now: Ledger,
  before: Ledger | null,
  context: { source: Source; trust: Trust; suite: Suite },
  found: readonly Entry[],
): Promise<void> {
  if (context.source.oid !== null && !(await hasNamed(context.source, now)))
    throw rewritten('The checkpoint names a folder of sessions that is in no commit here.');
  await assertComplete(now, before, context, found);
}

function describe({ index, record }: LedgerSeal): string {
  const { session_id, seq } = record.fields;
  return `Entry ${index} of the ledger, seal ${seq} of session ${session_id},`;
}

function headsOf(before: Ledger, now: Ledger): Record<string, unknown> {
  const [seen, found] = [before, now].map(({ checkpoint: { size, root } }) => `${size} seals, root ${toHex(root)}`);
  return { expected: `at least ${seen}`, found };
}

function rewritten(message: string, data?: Record<string, unknown>): HandoffError {
  return new HandoffError('ledger_rewritten', message, { hint: HINT, ...(data && { data }) });
}

const HINT =
  'Only git handoff ledger append writes it, on the protected branch: git rm -rfq --ignore-unmatch .handoff/ledger && git checkout BASE -- .handoff/ledger';

/** Whatever is wrong with the new one, the old one was replaced by it. */
function toFinding(error: unknown): Finding {
  if (!(error instanceof HandoffError) || error.exitCode === 4) throw error;
  return {
    code: 'ledger_rewritten',
    severity: 'error',
    path: LEDGER,
    message: error.message,
    ...comparedIn(error),
    hint: HINT,
  };
}
