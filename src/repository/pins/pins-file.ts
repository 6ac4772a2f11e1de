import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { replaceFile } from '../../disk/durable.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Messages, StateDirectory } from '../parts.ts';

export interface Version {
  version: number;
  id: string;
}

/** The newest this clone has seen of a document on a protected branch, and in which commit. SPEC §5.9 */
export interface Pin extends Version {
  commit: Oid | null;
}

/** By name in a Map: an identity may be called `constructor`, which every object has. */
export interface Pins {
  root: string;
  policy: Pin;
  identities: ReadonlyMap<string, Pin>;
}

export function pinsPath({ stateDir }: StateDirectory): string {
  return join(stateDir, 'pins.json');
}

/** As it stands in the file. */
type PinsFile = Omit<Pins, 'identities'> & { identities: Record<string, Pin> };

export function formatPins({ root, policy, identities }: Pins): PinsFile {
  return { root, policy, identities: Object.fromEntries(identities) };
}

export function readPins(path: string): Pins | null {
  const text = readStateText(path);
  return text === null ? null : parsePins(path, text);
}

/** Without its pins a clone cannot notice a rollback, so a file that cannot be read is not taken for none. */
function parsePins(path: string, text: string): Pins {
  const pins = parseJson<PinsFile>(text);
  if (typeof pins?.root === 'string' && pins.policy && pins.identities)
    return { ...pins, identities: new Map(Object.entries(pins.identities)) };
  throw new HandoffError('io', `The pins in ${path} cannot be read.`, {
    hint:
      'Make sure that the newest policy is the one you expect (git handoff policy show), then: ' +
      'git handoff trust --root ROOT --forget',
    data: { path },
  });
}

/** Where the repository may not be written to, it is verified all the same; the next run compares with what there was. */
export function tryRemember(repository: Messages, path: string, seen: object): void {
  try {
    replaceFile(path, `${JSON.stringify(seen)}\n`);
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    repository.warn(`What was seen cannot be remembered: ${(error as Error).message}`);
  }
}

function isReadOnly(error: unknown): boolean {
  // a folder that cannot be made in one that is mounted read-only is ENOENT to Node
  return hasCode(error, 'EACCES', 'EROFS', 'EPERM', 'ENOENT', 'ENOTDIR', 'EEXIST');
}
