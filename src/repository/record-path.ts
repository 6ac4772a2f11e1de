import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { foldersOf } from '../audit/delta/old-session.ts';
import type { Entry, Source } from '../audit/source/source.ts';
import { HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { parseRecordName, ROOT } from '../core/paths.ts';
import { cutSignature } from '../core/record/signed-parts.ts';
import { recordId } from '../core/record/verify.ts';
import { nodeSuite } from '../crypto.ts';
import type { Directories, Messages } from './parts.ts';

/** What names a record: a path, or an id or at least six digits of one. */
type RecordArgument = { path: string } | { prefix: string };

export function parseRecordArgument(name: string): RecordArgument {
  const prefix = /^(?:sha256:)?([0-9a-f]{6,64})$/.exec(name)?.[1];
  if (prefix !== undefined) return { prefix };
  if (name.includes('/') || name.endsWith('.yaml') || name.endsWith('.md')) return { path: name.replace(/^\.\//, '') };
  throw badRecordName(name);
}

/** A path may be seen from a directory below; verbs take it from the top. Anything else is left as it is. */
export function recordSeenFrom({ dirs: { topLevel } }: Directories, directory: string, name: string): string {
  if (topLevel === null || !/[/.]/.test(name)) return name;
  const path = relative(topLevel, resolve(realpathSync(directory), name))
    .split(sep)
    .join('/');
  return path.startsWith(`${ROOT}/`) ? path : name;
}

/** The path of a session's record. By path nothing else is read; by id all sessions are. */
export async function findRecordPath(repository: Messages, source: Source, name: string): Promise<string> {
  const parsed = parseRecordArgument(name);
  if ('path' in parsed) return parsed.path.startsWith(`${ROOT}/`) ? parsed.path : `${ROOT}/${parsed.path}`;
  const found: Entry[] = [];
  for (const { entry } of await foldersOf(source, '')) {
    const files = (await source.list(entry)).filter((file) => parseRecordName(file.name));
    found.push(...(await matching(source, files, parsed.prefix)));
    repository.progress(found.length);
  }
  return onlyOne(found, name).path;
}

/** Ids are digests of bytes: nothing has to be verified to find one. */
async function matching(source: Source, files: readonly Entry[], prefix: string): Promise<Entry[]> {
  const contents = await source.readAll(files, MAX_RECORD_BYTES);
  return files.filter((_, at) => {
    const bytes = contents[at]!;
    const parts = bytes instanceof HandoffError ? null : cutSignature(bytes);
    return parts !== null && recordId(parts.signedBytes, nodeSuite).startsWith(`sha256:${prefix}`);
  });
}

/** The only thing that a name names. */
export function onlyOne<T extends { path: string }>(found: readonly T[], name: string): T {
  if (found.length === 1) return found[0]!;
  const paths = found.map(({ path }) => path);
  const message =
    found.length === 0
      ? `There is no record ${JSON.stringify(name)}.`
      : `${JSON.stringify(name)} names ${found.length} records.`;
  throw new HandoffError('unknown_record', message, {
    hint:
      found.length === 0
        ? 'git handoff log lists them; git handoff audit verify shows what was changed or lost.'
        : `Give more digits. They are: ${paths.join(', ')}`,
    data: { found: found.length },
  });
}

function badRecordName(name: string): HandoffError {
  return new HandoffError(
    'usage',
    `${JSON.stringify(name)} names no record: expected a path, an id, or six or more hex digits of one.`,
    {
      hint: 'git handoff log lists records with their ids; git handoff log --session ID those of one session.',
    },
  );
}
