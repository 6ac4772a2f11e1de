import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', process.env.HANDOFF_VECTORS ?? '../shared/vectors');
const warned = new Set<string>();

/** The path of a published vector file or folder, or null when this checkout has none: pass the answer to `skipIf`. */
export function vectors(name: string): string | null {
  const path = resolve(ROOT, name);
  if (existsSync(path)) return path;
  if (!warned.has(name)) console.warn(`skipped: no vectors at ${path}; set HANDOFF_VECTORS to their folder`);
  warned.add(name);
  return null;
}
