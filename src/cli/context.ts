import { HandoffError } from '../core/error.ts';
import type { Repository, RepositoryOptions } from '../repository/repository.ts';
import type { Context } from './command.ts';

/** For the caller that opened it and also closes it. */
export type OpenContext = Context & {
  /** Where a verb has opened the repository, its session is at work. What git runs as a hook is no verb. */
  showLife(as: string | undefined): Promise<void>;
  /** The same for one that was refused, before it had opened anything or after. */
  showLifeRefused(as: string | undefined): Promise<void>;
  leave(): Promise<void>;
};

/** Opens the repository around a directory at most once, and only for verbs that ask; so with what Node opens when it is named. */
export function openContext(
  directory: string,
  options: RepositoryOptions,
  host: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'prependOnceListener' | 'off'>,
  { showOutput, serveClient }: Pick<Context, 'showOutput' | 'serveClient'>,
): OpenContext {
  let opened: Promise<Repository> | undefined;
  let isHook = false;
  const repository = (): Promise<Repository> => (opened ??= open(directory, options));
  const showLife = async (as: string | undefined): Promise<void> => {
    const repository = isHook ? null : await opened?.catch(nullOutside);
    if (repository) await (await import('../custody/sign-of-life.ts')).showLife(repository, as);
  };
  return {
    env: options.env,
    directory,
    get isTerminal() {
      return host.stdin.isTTY === true && host.stdout.isTTY === true; // Node opens a stream when it is named
    },
    readInput: (limit) => readAll(host.stdin, limit),
    showOutput,
    passSignals(send) {
      // before the listener that ends this process, which has to be the last one
      for (const signal of ENDING) host.prependOnceListener(signal, send);
      return () => {
        for (const signal of ENDING) host.off(signal, send);
      };
    },
    repository,
    hookRepository: () => {
      isHook = true;
      opened ??= openForHook(directory, options);
      return opened;
    },
    eventRepository: (place) => {
      isHook = true;
      opened ??= open(place, options);
      return opened;
    },
    serveClient,
    anyRepository: () => repository().catch(nullOutside),
    showLife,
    showLifeRefused: async (as) => {
      const isOpen = isHook || (await repository().catch(() => null)) !== null;
      if (isOpen) await showLife(as);
    },
    leave: async () => (await opened?.catch(() => null))?.leave(),
  };
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function readAll(stdin: NodeJS.ReadStream, limit = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  return Buffer.concat(chunks);
}

async function open(directory: string, options: RepositoryOptions): Promise<Repository> {
  const { openRepositoryAt } = await import('../repository/repository.ts');
  return openRepositoryAt(directory, options);
}

async function openForHook(directory: string, options: RepositoryOptions): Promise<Repository> {
  const { openHookRepository } = await import('../hooks/open.ts');
  return openHookRepository(directory, options);
}

function nullOutside(error: unknown): null {
  if (error instanceof HandoffError && error.code === 'not_a_repository') return null;
  throw error;
}
