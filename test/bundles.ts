import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Finding } from '../src/core/error.ts';
import { type Handoff, openRepository } from '../src/index.ts';
import { git, isolatedEnv, temporaryDirectory } from './temporary.ts';

/** A finding of a published vector: what two verifiers agree on, and the commit that is at fault where there is one. */
export interface Found {
  code: string;
  severity: 'error' | 'warning';
  path?: string;
  commit?: string;
}

/** A bare repository with all that a published bundle holds. */
export function unbundle(name: string, into: string): void {
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', into);
  git(into, 'fetch', '--quiet', resolve(import.meta.dirname, '../protocol/vectors', name), 'refs/*:refs/*');
}

/** A bare repository that has those objects and has seen nothing, whose `main` is at a commit, or is not there. */
export function judging(objects: string, main: string | null): Handoff {
  const dir = temporaryDirectory();
  for (const folder of ['objects/info', 'refs/heads']) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  writeFileSync(join(dir, 'objects/info/alternates'), `${join(objects, 'objects')}\n`);
  if (main !== null) writeFileSync(join(dir, 'refs/heads/main'), `${main}\n`);
  return openRepository(dir, { env: isolatedEnv, warn() {} });
}

/** Without words, in one order. */
export function told(findings: readonly (Found | Finding)[]): string[] {
  return findings
    .map(({ code, severity, path = '', commit = '' }) => [severity, code, path, commit].join(' ').trim())
    .sort();
}
