import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeHost } from './host.ts';
import { openRepositoryAt, type Program, type RepositoryOptions } from './repository/repository.ts';
import { type Bound, bindVerbs, VERBS } from './verbs/table.ts';

export { type ErrorCode, type Finding, HandoffError } from './core/error.ts';
export { nodeHashes, verifyEd25519 } from './crypto.ts';
export { openIsomorphicStore } from './git/isomorphic/isomorphic-store.ts';
export { openNativeStore } from './git/objects/native-store.ts';
export type { GitStore } from './git/objects/store.ts';

declare const __BUILD__: string | undefined;

/** The verbs as functions: each returns what `--json` prints and throws HandoffError. */
export interface Handoff extends Bound<typeof VERBS> {
  /** Ends the git process that reads objects. */
  close(): Promise<void>;
}

/** Opens the repository that a directory is in. */
export function openRepository(directory = process.cwd(), options: Partial<RepositoryOptions> = {}): Handoff {
  const build = typeof __BUILD__ === 'string' ? __BUILD__ : null;
  const env = options.env ?? process.env;
  const repository = openRepositoryAt(directory, { build, host: nodeHost, program: program(), ...options, env });
  return { ...bindVerbs(VERBS, repository), close: () => repository.close() };
}

/** What hooks start, where it was published beside this file. */
function program(): Program | null {
  const hook = fileURLToPath(new URL('./hook.sh', import.meta.url));
  return existsSync(hook) ? { node: process.execPath, hook } : null;
}
