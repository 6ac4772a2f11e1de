import { isIdentityName, isLookalike } from '../../core/names.ts';
import { isProofName, parsePolicyName, parseTaskName, ROOT } from '../../core/paths.ts';
import { attempt, finding, type Report } from '../finding.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FILE, FOLDER, type Source } from '../source/source.ts';

/** What a tree's `.handoff` holds, by room. Everything that has no place there was reported. */
export interface Layout {
  policies: Entry[];
  project: Entry | null;
  tasks: Entry[];
  identities: { name: string; files: Entry[] }[];
  /** The folders under sessions/, one per identity. */
  sessions: Entry[];
  /** Its folder. */
  ledger: Entry | null;
  proofs: Entry[];
}

/** SPEC §7.1: default deny. Only regular files and folders, only at the paths of SPEC §2.2, no name twice. */
export async function readLayout(source: Source, report: Report): Promise<Layout> {
  const root = await source.root();
  reportLookalikes(root, report);
  const top = root.find((entry) => entry.name === ROOT);
  const rooms = top && isFolder(top, report) ? await listUnique(source, top, report) : [];
  const layout: Layout = {
    policies: [],
    project: null,
    tasks: [],
    identities: [],
    sessions: [],
    ledger: null,
    proofs: [],
  };
  await Promise.all(rooms.map((room) => readRoom(source, room, layout, report)));
  return layout;
}

export function reportLookalikes(root: readonly Entry[], report: Report): void {
  reportDuplicates(
    root.filter((entry) => entry.name === ROOT),
    report,
  );
  for (const { name, path } of root) {
    if (!isLookalike(name)) continue;
    report(finding('name_lookalike', path, 'one folder called .handoff', JSON.stringify(name), 'Rename it: git mv'));
  }
}

async function readRoom(source: Source, room: Entry, layout: Layout, report: Report): Promise<void> {
  if (room.name === 'project.yaml') {
    if (isFile(room, report)) layout.project = room;
    return;
  }
  if (!ROOMS.has(room.name))
    return reportNoPlace(room, 'policy, project.yaml, identities, tasks, sessions, ledger or proofs', report);
  if (!isFolder(room, report)) return;
  if (room.name === 'ledger') {
    layout.ledger = room;
    return;
  }
  const entries = await listUnique(source, room, report);
  if (room.name === 'policy')
    layout.policies = entries.filter((entry) => isNamed(entry, isPolicyFile, 'NNNN.yaml', report));
  if (room.name === 'tasks')
    layout.tasks = entries.filter((entry) => isNamed(entry, isTaskFile, '<task-id>.yaml', report));
  if (room.name === 'proofs')
    layout.proofs = entries.filter((entry) => isNamed(entry, isProofName, '<64 hex digits>.yaml', report));
  if (room.name === 'sessions') layout.sessions = entries.filter((entry) => isOwnedFolder(entry, report));
  if (room.name === 'identities') layout.identities = await readIdentityFolders(source, entries, report);
}

const ROOMS: ReadonlySet<string> = new Set(['policy', 'identities', 'tasks', 'sessions', 'ledger', 'proofs']);

async function readIdentityFolders(
  source: Source,
  entries: readonly Entry[],
  report: Report,
): Promise<Layout['identities']> {
  const folders = entries.filter((entry) => isOwnedFolder(entry, report));
  const inTurn = limiter(FOLDERS_AT_ONCE);
  const readOne = async (folder: Entry): Promise<Layout['identities'][number]> => {
    const files = await listUnique(source, folder, report);
    const expected = 'identity.yaml, pending.yaml or skill.md';
    return { name: folder.name, files: files.filter((file) => isNamed(file, isIdentityFile, expected, report)) };
  };
  return Promise.all(folders.map((folder) => inTurn(1, () => readOne(folder))));
}

const isPolicyFile = (name: string): boolean => parsePolicyName(name) !== null;
const isTaskFile = (name: string): boolean => parseTaskName(name) !== null;
const isIdentityFile = (name: string): boolean => ['identity.yaml', 'pending.yaml', 'skill.md'].includes(name);

function isNamed(entry: Entry, isRight: (name: string) => boolean, expected: string, report: Report): boolean {
  if (isRight(entry.name)) return isFile(entry, report);
  reportNoPlace(entry, expected, report);
  return false;
}

export function isOwnedFolder(entry: Entry, report: Report): boolean {
  if (isIdentityName(entry.name)) return isFolder(entry, report);
  reportNoPlace(entry, 'a folder named after an identity', report);
  return false;
}

/** A folder's entries; a name that stands there twice, or differs only in case, is reported. */
export async function listUnique(source: Source, folder: Entry, report: Report): Promise<Entry[]> {
  const entries = await attempt(folder.path, report, () => source.list(folder));
  reportDuplicates(entries ?? [], report);
  return entries ?? [];
}

export function reportDuplicates(entries: readonly Entry[], report: Report): void {
  const seen = new Map<string, string>();
  for (const { name, path } of entries) {
    const folded = name.toLowerCase();
    const other = seen.get(folded);
    if (other !== undefined) {
      report(
        finding('name_lookalike', path, 'each name once, whatever its case', `${other} and ${name}`, 'Remove one.'),
      );
    }
    seen.set(folded, name);
  }
}

export function isFile(entry: Entry, report: Report): boolean {
  return hasMode(entry, FILE, 'a regular file, mode 100644', report);
}

export function isFolder(entry: Entry, report: Report): boolean {
  return hasMode(entry, FOLDER, 'a folder', report);
}

function hasMode(entry: Entry, mode: string, expected: string, report: Report): boolean {
  if (entry.mode === mode) return true;
  const what = { '120000': 'a symbolic link', '160000': 'a submodule', '100755': 'an executable file' }[entry.mode];
  const hint =
    'Only folders and plain files belong in .handoff: restore it from git, or git update-index --chmod=-x FILE.';
  report(finding('mode_invalid', entry.path, expected, what ?? `mode ${entry.mode}`, hint));
  return false;
}

export function reportNoPlace(entry: Entry, expected: string, report: Report): void {
  const hint = 'Nothing but what SPEC §2.2 lists belongs in .handoff; move the file elsewhere.';
  report(finding('path_mismatch', entry.path, expected, JSON.stringify(entry.name), hint));
}
