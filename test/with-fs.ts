import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** While the file system does some things in another way. */
export function withFs(changed: Partial<typeof fs>, work: () => void): void {
  const real = Object.fromEntries(Object.keys(changed).map((name) => [name, fs[name as keyof typeof fs]]));
  Object.assign(fs, changed);
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}
