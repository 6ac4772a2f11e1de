import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { RepositoryDirs } from '../discover.ts';

/** More than git follows. */
const MOST_STEPS = 5;

/** The ref that a write to this one reaches, whether it is there or not. Reads files, starts nothing. */
export function followRef(dirs: RepositoryDirs, ref: string): string {
  let name = ref;
  for (let step = 0; step <= MOST_STEPS; step++) {
    const next = targetOf(readRefFile(dirs, name));
    if (next === null) return name;
    name = next;
  }
  throw new HandoffError('usage', `${ref} leads to more than ${MOST_STEPS} other refs, one after the other.`, {
    hint: `git symbolic-ref ${quoteWord(ref)} refs/heads/NAME`,
  });
}

function targetOf(text: string | null): string | null {
  return /^ref:\s*(\S+)/.exec(text ?? '')?.[1] ?? null;
}

/** What stands in the file of a ref; null where it has none, or is packed, which a symbolic ref never is. */
export function readRefFile({ gitDir, commonDir }: RepositoryDirs, ref: string): string | null {
  if (ref !== 'HEAD' && !isInside(ref)) return null;
  const path = join(ref === 'HEAD' ? gitDir : commonDir, ref);
  try {
    // the older way to write a symbolic ref
    if (lstatSync(path).isSymbolicLink() && isInside(readlinkSync(path))) return `ref: ${readlinkSync(path)}`;
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return null;
    throw error;
  }
}

/** A hook is told names before git has looked at them. */
function isInside(ref: string): boolean {
  return ref.startsWith('refs/') && !ref.split('/').includes('..');
}
