import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { parseConfigFile } from '../config-file.ts';
import type { Oid } from './store.ts';

export type ObjectFormat = 'sha1' | 'sha256';
export type ObjectType = 'blob' | 'tree' | 'commit';

/** Only the repository's own file says it: git ignores it anywhere else. */
export function objectFormat(commonDir: string): ObjectFormat {
  const config = parseConfigFile(readFileSync(join(commonDir, 'config'), 'utf8'));
  return config.get('extensions.objectformat') === 'sha256' ? 'sha256' : 'sha1';
}

/** The id of an object, by its content. */
export function objectId(format: ObjectFormat, type: ObjectType, bytes: Uint8Array): Oid {
  return hash(format, withHeader(type, bytes), 'hex');
}

function withHeader(type: ObjectType, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
}

/** Writes an object as git would: whole or not at all, under the name of its content, never to be changed. */
export function writeLooseObject(objects: string, format: ObjectFormat, type: ObjectType, bytes: Uint8Array): Oid {
  const whole = withHeader(type, bytes);
  const oid = hash(format, whole, 'hex');
  const folder = join(objects, oid.slice(0, 2));
  const path = join(folder, oid.slice(2));
  for (let attempt = 1; ; attempt++) {
    try {
      if (existsSync(path)) keep(path);
      else writeWhole(folder, path, deflateSync(whole, { level: LEVEL[type] }));
      return oid;
    } catch (cause) {
      // `git gc` takes away what nothing names, and a folder that is empty, also between two steps here
      if (hasCode(cause, 'ENOENT') && attempt < ATTEMPTS) continue;
      throw new HandoffError('io', `Object ${oid} could not be written: ${(cause as Error).message}`, {
        hint: 'Free space or fix permissions, then run the command again.',
        data: { path },
        cause,
      });
    }
  }
}

const ATTEMPTS = 5;

/** Speed before size, until `git gc` packs it. A tree is mostly ids, which do not shrink. */
const LEVEL: Record<ObjectType, number> = { blob: 1, tree: 0, commit: 1 };

/** A `git gc` that runs now may be about to drop an object that nothing named so far, but not a new one. */
function keep(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    // somebody else's object is as good as ours, and git leaves its time as it is as well
    if (!hasCode(error, 'EPERM', 'EACCES', 'EROFS')) throw error;
  }
}

/** `git gc` clears away what a killed process leaves under such a temporary name. */
function writeWhole(folder: string, path: string, bytes: Uint8Array): void {
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`);
  mkdirSync(folder, { recursive: true });
  try {
    const file = openSync(temporary, 'wx', 0o444);
    try {
      writeFileSync(file, bytes);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
