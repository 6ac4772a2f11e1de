import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..');

const pages = (folder: string): string[] =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** Everything that people read. */
export const DOCUMENTS = ['SPEC.md', 'README.md', 'CONTRIBUTING.md', ...pages('docs')];

export const readDocument = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
