import { closeSync, openSync, readSync } from 'node:fs';
import { findSecrets } from '../../core/text/secrets.ts';
import { pathBytes } from '../../git/index/path-bytes.ts';

/** Names under which keys and passwords lie about; the public half of a key, and an example, is none. */
const NAMES =
  /(?:^|\/)(?:\.env(?:\.(?!example$|sample$|template$)[^/]*)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.pgpass|[^/]*\.(?:pem|key|p12|pfx|jks))$/;

/** How many bytes are searched for secrets: the result is only a warning, and a wrap must not wait long for it. */
const MOST_OF_A_FILE = 64 << 10;
const MOST_IN_ALL = 1 << 20;

/** Those of the files whose name or beginning looks like a secret. */
export function findSecretFiles(topLevel: string, files: readonly string[]): string[] {
  let left = MOST_IN_ALL;
  return files.filter((path) => {
    if (NAMES.test(path)) return true;
    if (left <= 0) return false;
    const text = beginningOf(topLevel, path, Math.min(left, MOST_OF_A_FILE));
    left -= text.length;
    return !text.includes('\0') && findSecrets(text).length > 0;
  });
}

function beginningOf(topLevel: string, path: string, most: number): string {
  const file = openSync(pathBytes(topLevel, path), 'r');
  try {
    const bytes = Buffer.alloc(most);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, most, 0));
  } finally {
    closeSync(file);
  }
}
