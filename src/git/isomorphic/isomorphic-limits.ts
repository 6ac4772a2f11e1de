import type { PromiseFsClient } from 'isomorphic-git';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { isTrue, parseConfigFile } from '../config-file.ts';
import { NO_REPOSITORY } from '../objects/store-error.ts';

export interface IsomorphicPlace {
  fs: PromiseFsClient;
  gitdir: string;
}

/** Throws for every kind of repository that isomorphic-git reads wrongly or not at all. */
export async function assertSupported(place: IsomorphicPlace): Promise<void> {
  if (!(await isDirectory(place, ''))) {
    if ((await readText(place, '')) !== null) throw unsupported('a linked worktree or a submodule');
    throw new HandoffError('not_a_repository', `There is no git directory at ${place.gitdir}`, NO_REPOSITORY);
  }
  if ((await readText(place, 'commondir')) !== null) throw unsupported('a linked worktree');
  if (((await readText(place, 'objects/info/alternates')) ?? '').trim() !== '') throw unsupported('alternates');
  assertFormat(parseConfigFile((await readText(place, 'config')) ?? ''));
  if (await hasPromisorPack(place)) throw unsupported('a partial clone');
}

export async function isShallow(place: IsomorphicPlace): Promise<boolean> {
  return ((await readText(place, 'shallow')) ?? '') !== '';
}

const KNOWN_EXTENSIONS = new Set(['extensions.objectformat', 'extensions.noop', 'extensions.worktreeconfig']);

function assertFormat(config: ReadonlyMap<string, string>): void {
  const version = config.get('core.repositoryformatversion') ?? '0';
  if (version !== '0' && version !== '1') throw unsupported(`repository format ${version}`);
  const format = config.get('extensions.objectformat') ?? 'sha1';
  if (format.toLowerCase() !== 'sha1') throw unsupported(`the object format ${format}`);
  for (const [key, value] of config) {
    if (/^remote\..*\.promisor$/.test(key) && isTrue(value)) throw unsupported('a partial clone');
    if (key.startsWith('extensions.') && !KNOWN_EXTENSIONS.has(key))
      throw unsupported(`the extension ${key.slice(11)}`);
  }
}

async function hasPromisorPack({ fs, gitdir }: IsomorphicPlace): Promise<boolean> {
  try {
    const names: string[] = await fs.promises.readdir(`${gitdir}/objects/pack`);
    return names.some((name) => name.endsWith('.promisor'));
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function isDirectory({ fs, gitdir }: IsomorphicPlace, path: string): Promise<boolean> {
  try {
    return (await fs.promises.stat(path === '' ? gitdir : `${gitdir}/${path}`)).isDirectory();
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function readText({ fs, gitdir }: IsomorphicPlace, path: string): Promise<string | null> {
  try {
    return String(await fs.promises.readFile(path === '' ? gitdir : `${gitdir}/${path}`, 'utf8'));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR');
}

function unsupported(what: string): HandoffError {
  return new HandoffError('unsupported', `isomorphic-git cannot read ${what}`, {
    hint: 'Use the native store, which needs the git binary.',
  });
}
