import { type Git, type GitResult, gitFailure, runGit, type StartedGit, startGit } from '../git/run.ts';

/** git's index. */
export interface IndexFile {
  /**
   * Starts git ahead of `add`: it reads the index, which is as large as the repository, while the caller does other things.
   * From then on it holds git's lock on the index, so it must come to `add` or `rest` soon.
   */
  prepare(): void;
  /** Takes these files in as they are in the work tree; what is not there is taken out. */
  add(paths: readonly string[]): Promise<void>;
  /** Ends what was prepared and not needed. */
  rest(): Promise<void>;
}

/** update-index, because `git add` would refuse what .gitignore names and obey pathspec magic. */
const ARGS = ['update-index', '--add', '--remove', '-z', '--stdin'];

export function openIndexFile(git: Git): IndexFile {
  let ahead: StartedGit | null = null;
  const finish = async (input: string): Promise<GitResult | null> => {
    const started = ahead;
    ahead = null;
    return started && started.finish(input);
  };
  return {
    prepare() {
      ahead ??= startGit(git, ARGS);
    },
    async add(paths) {
      const input = paths.map((path) => `${path}\0`).join('');
      const result = await untilUnlocked(async () => (await finish(input)) ?? runGit(git, ARGS, { input }));
      if (result.code !== 0) throw gitFailure(ARGS, result);
    },
    async rest() {
      await finish('');
    },
  };
}

const ATTEMPTS = 40;

/**
 * Another git process holds the index for a moment: it is asked again for about six seconds. At odd times, so that a
 * hundred who wait do not meet again each time.
 */
export async function untilUnlocked(run: () => Promise<GitResult>): Promise<GitResult> {
  for (let attempt = 1; ; attempt++) {
    const result = await run();
    if (result.code === 0 || attempt === ATTEMPTS || !/\.lock': File exists/.test(result.stderr)) return result;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  }
}
