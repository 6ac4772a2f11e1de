import { HandoffError } from '../core/error.ts';
import type { Repository, RepositoryOptions } from '../verbs/repository.ts';
import type { Context } from './command.ts';

/** Opens the repository around a directory at most once, and only for verbs that ask. */
export function openContext(directory: string, options: RepositoryOptions): Context & { close(): Promise<void> } {
  let opened: Promise<Repository> | undefined;
  const repository = (): Promise<Repository> => (opened ??= open(directory, options));
  return {
    env: options.env,
    repository,
    anyRepository: () => repository().catch(nullOutside),
    close: async () => (await opened?.catch(() => null))?.store.close(),
  };
}

async function open(directory: string, options: RepositoryOptions): Promise<Repository> {
  const { openRepositoryAt } = await import('../verbs/repository.ts');
  return openRepositoryAt(directory, options);
}

function nullOutside(error: unknown): null {
  if (error instanceof HandoffError && error.code === 'not_a_repository') return null;
  throw error;
}
