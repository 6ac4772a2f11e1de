import { openRepositoryAt, type Repository, type RepositoryOptions } from '../repository/repository.ts';

/** Where a server was started, and with what. */
export interface ServerSetting {
  version: string;
  directory: string;
  options: RepositoryOptions;
}

export interface Setting extends ServerSetting {
  /** One call at a time: two of one process would share its locks. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Opened for one call: what changed since the last is seen, and no process of git outlives it. */
export async function withRepository<T>(
  { options }: Setting,
  directory: string,
  warnings: string[],
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const repository = openRepositoryAt(directory, { ...options, warn: (message) => warnings.push(message) });
  try {
    return await work(repository);
  } finally {
    await repository.close();
  }
}
