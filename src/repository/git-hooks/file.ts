import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { HandoffError } from '../../core/error.ts';
import { replaceBy } from '../../disk/durable.ts';
import type { HookFile } from './place.ts';
import {
  type FoundSection,
  findSection,
  formatSection,
  HEADER,
  type HookName,
  insertSection,
  isShellScript,
  MOVED,
  type Section,
  type SectionOrigin,
} from './section.ts';

/** What is where a hook should be. */
interface Present {
  stats: Stats;
  text: string;
  section: FoundSection | null;
}

const EXECUTABLE = 0o755;

/** Puts our section into the hook. What cannot take it is moved aside, and runs afterwards as it did before. */
export function installHook(file: HookFile, name: HookName, program: Section['program'], fsck?: string): void {
  const note = fsck === undefined ? {} : { fsck };
  const format = (origin: SectionOrigin, chained: boolean) => formatSection({ name, origin, program, chained });
  const present = readHook(file.path);
  if (present?.section) {
    refresh(file, present, format);
  } else if (present && takesSection(file, present)) {
    const insert = (unended: boolean) => format({ created: false, unended, ...note }, false);
    replaceHook(file.path, insertSection(present.text, insert), present.stats.mode & 0o7777);
  } else {
    const origin = { created: true, unended: false, ...note };
    create(file.path, present !== null, (chained) => HEADER + format(origin, chained));
  }
}

/** Where nothing can be written, what was moved is put back. */
function create(path: string, isTaken: boolean, format: (chained: boolean) => string): void {
  if (isTaken) moveAside(path);
  try {
    replaceHook(path, format(isThere(path + MOVED)), EXECUTABLE);
  } catch (error) {
    if (isTaken) renameSync(path + MOVED, path);
    throw error;
  }
}

/** Takes our section out again; to the byte what was there before. */
export function uninstallHook({ path }: HookFile): FoundSection | null {
  const present = readHook(path);
  if (!present?.section) return null;
  const { origin, rest } = present.section;
  if (!origin.created || rest !== HEADER) replaceHook(path, rest, present.stats.mode & 0o7777);
  else if (isThere(path + MOVED)) renameSync(path + MOVED, path);
  else rmSync(path);
  return present.section;
}

/** Why a hook of ours does not run: git, or another tool, has written over it or may not run it, or it is of another build. */
export type Lack = 'absent' | 'rewritten' | 'not_executable' | 'outdated';

/** Null where the hook is as `installHook` would leave it, as far as can be told by whoever has no program beside them. */
export function hookLack(
  { path, sourced, shared }: HookFile,
  name: HookName,
  program: Section['program'],
): Lack | null {
  const present = readHook(path);
  if (!present) return 'absent';
  if (!present.section) return 'rewritten';
  if (!sourced && !isRunnable(present.stats)) return 'not_executable';
  if (!shared && program === null) return null;
  const { origin, replaceBy } = present.section;
  const chained = origin.created && isThere(path + MOVED);
  return replaceBy(formatSection({ name, origin, program: shared ? null : program, chained })) === present.text
    ? null
    : 'outdated';
}

export interface HookState {
  installed: boolean;
  /** Something of somebody else's runs as this hook too. */
  chained: boolean;
  fsck: string | undefined;
}

export function hookState({ path, sourced }: HookFile): HookState {
  const present = readHook(path);
  if (!present?.section || !(sourced || isRunnable(present.stats)))
    return { installed: false, chained: false, fsck: undefined };
  const { origin, rest } = present.section;
  const chained = !(origin.created && rest === HEADER) || isThere(path + MOVED);
  return { installed: true, chained, fsck: origin.fsck };
}

type Format = (origin: SectionOrigin, chained: boolean) => string;

/** The program may have moved. */
function refresh({ path }: HookFile, { section, stats, text }: Present, format: Format): void {
  const { origin, replaceBy } = section!;
  const mode = origin.created ? stats.mode | 0o111 : stats.mode;
  const fresh = replaceBy(format(origin, origin.created && isThere(path + MOVED)));
  if (fresh !== text || mode !== stats.mode) replaceHook(path, fresh, mode & 0o7777);
}

/** A link may lead to a file of somebody else's, and git passes over what may not be run: those stay as they are. */
function takesSection({ sourced }: HookFile, { stats, text }: Present): boolean {
  if (!stats.isFile()) return false;
  return sourced ? !text.startsWith('#!') || isShellScript(text) : isRunnable(stats) && isShellScript(text);
}

function isRunnable(stats: Stats): boolean {
  return (stats.mode & 0o111) !== 0;
}

function readHook(path: string): Present | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return null;
  const text = stats.isFile() ? readFileSync(path, 'latin1') : '';
  return { stats, text, section: findSection(text) };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function moveAside(path: string): void {
  if (isThere(path + MOVED)) {
    throw new HandoffError('io', `${path} is to be moved to ${path}${MOVED}, where another hook was moved before.`, {
      hint: 'Look at both, delete the one that is not needed, and run git handoff hooks install again.',
    });
  }
  renameSync(path, path + MOVED);
}

/** In one step: git may be running it. */
function replaceHook(path: string, text: string, mode: number): void {
  replaceBy(path, (temporary) => {
    writeFileSync(temporary, text, { encoding: 'latin1', flag: 'wx' });
    chmodSync(temporary, mode);
  });
}
