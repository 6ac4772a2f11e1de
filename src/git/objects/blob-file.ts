import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { hasCode } from '../../core/error-code.ts';

const LIMIT = 1 << 20;

/** A file that is, byte for byte, the blob of this id. Null for what is not, is no plain file, is large, or cannot be read. */
export function readBlobFile(path: string | Uint8Array, oid: Uint8Array): Buffer | null {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(typeof path === 'string' ? path : Buffer.from(path), flags);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size > LIMIT) return null;
      const bytes = readFileSync(file);
      const whole = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]);
      return hash(oid.length === 32 ? 'sha256' : 'sha1', whole, 'buffer').equals(oid) ? bytes : null;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null;
  }
}
