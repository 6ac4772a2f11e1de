import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { ObjectFormat } from './loose-object.ts';

const LIMIT = 1 << 20;

/** Whether a file is, byte for byte, the blob of this id. False for what is no plain file, is large, or cannot be read. */
export function hasBlob(path: Uint8Array, oid: Uint8Array, format: ObjectFormat): boolean {
  try {
    const file = openSync(Buffer.from(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size > LIMIT) return false;
      const bytes = readFileSync(file);
      const whole = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]);
      return hash(format, whole, 'buffer').equals(oid);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}
