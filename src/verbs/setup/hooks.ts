import { HandoffError } from '../../core/error.ts';
import { guarded } from '../../disk/durable.ts';
import { gitFailure, readGit, runGit } from '../../git/run.ts';
import {
  type HookState,
  hookLack,
  hookState,
  installHook,
  type Lack,
  uninstallHook,
} from '../../repository/git-hooks/file.ts';
import { assertInside, findHookPlace, type HookPlace } from '../../repository/git-hooks/place.ts';
import { CLIENT_HOOKS, type HookName, SERVER_HOOKS } from '../../repository/git-hooks/section.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';

export interface HooksOptions {
  server?: boolean;
  force?: boolean;
}

export interface HooksResult {
  installed: HookName[];
  /** Those of them that also run what somebody else put there. */
  chained: HookName[];
  hooks_path: string;
  /** The file of each hook that is installed. */
  files: string[];
}

export interface HooksStatus extends HooksResult {
  /** Hooks that do not run as they should, and why. */
  missing: { hook: HookName; reason: Lack }[];
}

/** Puts our sections into the hooks of this repository. A second time changes nothing. */
export async function hooksInstall(repository: Repository, options: HooksOptions = {}): Promise<HooksResult> {
  assertKind(repository, options.server ?? false);
  if (!repository.program) throw noProgram();
  const place = await findHookPlace(repository);
  if (!options.force) assertInside(place);
  const names = namesFor(repository);
  const fsck = options.server ? await checkObjects(repository, place) : undefined;
  for (const name of names) {
    const file = place.at(name);
    guarded(file.path, () => installHook(file, name, file.shared ? null : repository.program, fsck));
  }
  if (options.server && (await repository.config()).get('handoff.root') === undefined) repository.warn(NOT_PINNED);
  return describe(place, names);
}

export async function hooksUninstall(repository: Repository): Promise<HooksResult> {
  const place = await findHookPlace(repository);
  const names = namesFor(repository);
  for (const name of names) {
    const file = place.at(name);
    const removed = guarded(file.path, () => uninstallHook(file));
    if (removed?.origin.fsck !== undefined) await restoreCheck(repository, removed.origin.fsck);
  }
  return describe(place, names);
}

/** What is installed, and what is not, or no more: other tools write hooks, too. */
export async function hooksStatus(repository: Repository): Promise<HooksStatus> {
  const place = await findHookPlace(repository);
  const names = namesFor(repository);
  return { ...describe(place, names), missing: names.flatMap((name) => lackOf(repository, place, name)) };
}

function lackOf({ program }: Pick<Repository, 'program'>, place: HookPlace, hook: HookName): HooksStatus['missing'] {
  const reason = hookLack(place.at(hook), hook, program);
  return reason === null ? [] : [{ hook, reason }];
}

function namesFor({ dirs }: Directories): readonly HookName[] {
  return dirs.topLevel === null ? SERVER_HOOKS : CLIENT_HOOKS;
}

function describe(place: HookPlace, names: readonly HookName[]): HooksResult {
  const states = new Map<HookName, HookState>(names.map((name) => [name, hookState(place.at(name))]));
  const where = (is: (state: HookState) => boolean) => names.filter((name) => is(states.get(name)!));
  const installed = where((state) => state.installed);
  return {
    installed,
    chained: where(({ chained }) => chained),
    hooks_path: place.dir,
    files: installed.map((name) => place.at(name).path),
  };
}

function assertKind({ dirs }: Directories, server: boolean): void {
  if (server === (dirs.topLevel === null)) return;
  if (server) {
    throw new HandoffError(
      'usage',
      '--server is for a bare repository that others push to; this one has a work tree.',
      {
        hint: 'git handoff hooks install here; git handoff hooks install --server on the server.',
      },
    );
  }
  throw new HandoffError('usage', 'This is a bare repository: nobody commits or merges here.', {
    hint: 'To judge what is pushed to it: git handoff hooks install --server',
  });
}

function noProgram(): HandoffError {
  return new HandoffError('unsupported', 'The program that hooks call is not beside this library.', {
    hint: 'Install the package git-handoff, and run git handoff hooks install.',
  });
}

const NOT_PINNED =
  'No root is pinned here, so whoever pushes first decides whom this server trusts. Pin it: git handoff trust --root ROOT';

const FSCK = 'receive.fsckObjects';
const UNSET = 'unset';

/** THREATS 28: a tree with an entry twice is two trees, and git takes it unless told otherwise. Returns what was set before. */
async function checkObjects(repository: Repository, place: HookPlace): Promise<string> {
  const recorded = SERVER_HOOKS.map((name) => hookState(place.at(name)).fsck).find((fsck) => fsck !== undefined);
  const before = recorded ?? (await localValue(repository, FSCK)) ?? UNSET;
  await repository.setConfig(FSCK, 'true');
  return before;
}

/** Unless somebody has changed it since. */
async function restoreCheck(repository: Repository, before: string): Promise<void> {
  if ((await localValue(repository, FSCK)) !== 'true') return;
  if (before === UNSET) await readGit(repository.git, ['config', '--local', '--unset-all', FSCK]);
  else await repository.setConfig(FSCK, before);
}

async function localValue({ git }: GitAccess, key: string): Promise<string | null> {
  const args = ['config', '--local', '--get', key];
  const result = await runGit(git, args);
  if (result.code > 1) throw gitFailure(args, result);
  return result.code === 0 ? result.stdout.toString('utf8').replace(/\n$/, '') : null;
}
