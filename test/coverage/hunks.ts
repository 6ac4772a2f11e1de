import { execFileSync } from 'node:child_process';
import { isolatedEnv } from '../temporary.ts';
import type { Objects, Oid } from './objects.ts';

/** SPEC §9.3: how a patch is printed. */
const ARGS = [
  ...['diff-tree', '-p', '-r', '--no-renames', '--full-index', '--text', '-U3', '--diff-algorithm=myers'],
  ...['--no-indent-heuristic', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none', '--submodule=short'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--no-commit-id'],
];
const CONFIG = ['-c', 'core.quotePath=false', '-c', 'diff.suppressBlankEmpty=false'];

interface Hunk {
  /** The lines that it finds. */
  before: string[];
  /** How many lines there are before the first change and after the last: fewer than three where the file begins or ends. */
  leading: number;
  trailing: number;
}

/** SPEC §10.4.6: whether each hunk of a commit's patch stands at one place of the file, or shows that it begins or ends there. */
export function standsAtOnePlace(dir: string, objects: Objects, oid: Oid): boolean {
  const known = KNOWN.get(oid) ?? isAtOnePlace(dir, objects, oid);
  KNOWN.set(oid, known);
  return known;
}

const KNOWN = new Map<Oid, boolean>();

function isAtOnePlace(dir: string, objects: Objects, oid: Oid): boolean {
  const { parents, tree } = objects.commit(oid)!;
  if (parents.length === 0) return true; // all its files are new
  return isPatchAtOnePlace(dir, objects, objects.commit(parents[0]!)!.tree, tree);
}

/** The same of what is between two trees. */
export function isPatchAtOnePlace(dir: string, objects: Objects, tree: Oid, after: Oid): boolean {
  const before = objects.files(tree);
  const byOid = new Map([...before.values()].map((entry) => [entry.oid, entry]));
  return filesIn(dir, tree, after).every(({ old, hunks }) => {
    const entry = byOid.get(old);
    if (!entry || entry.mode === '160000') return true; // a new file has one place
    const file = linesOf(objects.read(old)!.bytes.toString('latin1'));
    return hunks.every((hunk) => hasOnePlace(hunk, file));
  });
}

function hasOnePlace({ before, leading, trailing }: Hunk, file: readonly string[]): boolean {
  const isThere = (start: number) => before.every((line, n) => file[start + n] === line);
  const places = file.map((_, start) => start).filter(isThere);
  return places.length <= 1 || leading < 3 || trailing < 3;
}

interface FileHunks {
  /** The object that the file was. */
  old: Oid;
  hunks: Hunk[];
}

function filesIn(dir: string, before: Oid, after: Oid): FileHunks[] {
  const args = ['-C', dir, ...CONFIG, ...ARGS, before, after, '--', '.', ':(exclude).handoff'];
  const patch = execFileSync('git', args, { env: isolatedEnv }).toString('latin1');
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.includes('\nindex '))
    .map((part) => ({ old: /^index ([0-9a-f]+)/m.exec(part)![1]!, hunks: hunksIn(part) }));
}

function hunksIn(file: string): Hunk[] {
  const [, ...parts] = file.split(/^(?=@@ )/m);
  return parts.map((part) => {
    const lines = linesOf(part).slice(1);
    const isContext = (line: string): boolean => line.startsWith(' ');
    const shown = lines.filter((line) => !line.startsWith('\\'));
    const leading = shown.findIndex((line) => !isContext(line));
    const trailing = shown.toReversed().findIndex((line) => !isContext(line));
    return { before: oldLines(lines), leading, trailing };
  });
}

/** The lines that the file has, each with its newline, if it has one. */
function oldLines(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    if (!/^[ -]/.test(line)) return [];
    return lines[at + 1]?.startsWith('\\') ? line.slice(1, -1) : line.slice(1);
  });
}

/** Each with its newline, if it has one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
