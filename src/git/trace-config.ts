import type { Readable } from 'node:stream';
import { type GitConfig, toConfig } from './config.ts';

/** What is asked for: more would be more to read at every start. */
const KEYS = [
  'handoff.*',
  ...['branch.*.remote', 'remote.*.fetch'], // where it keeps what a remote has
  ...['user.*', 'author.*', 'committer.*'],
  ...['hook.*', 'core.hookspath', 'commit.gpgsign', 'i18n.commitencoding'], // how git commits
  'core.excludesfile', // what it ignores
  ...['core.sharedrepository', 'core.fsync*'], // how it writes objects
  ...['core.splitindex', 'core.ignorecase', 'core.untrackedcache', 'index.*', 'feature.*'], // and the index
].join(',');
const TOLD = new RegExp(`^(?:${KEYS.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(',', '|')})$`, 'is');

/** Whether git tells this key: what it matches is seen without regard to case. */
export function isTold(key: string): boolean {
  return TOLD.test(key);
}

const MARK = 'GIT_HANDOFF_MARK';

/** The number of the pipe that TRACE_CONFIG makes git write to. */
export const TRACE_FD = 3;

/**
 * Makes any git process tell its configuration as it starts (git's trace2 `configParams`, all scopes and includes as git
 * sees them), so that reading it costs no process of its own. The mark comes last: then all of it has been told.
 */
export const TRACE_CONFIG = {
  GIT_TRACE2_EVENT: String(TRACE_FD),
  GIT_TRACE2_EVENT_BRIEF: '1',
  GIT_TRACE2_CONFIG_PARAMS: KEYS,
  GIT_TRACE2_ENV_VARS: MARK,
  [MARK]: '1',
};

/** Null when git ended, or does not tell: then it has to be asked. */
export function readTracedConfig(pipe: Readable): Promise<GitConfig | null> {
  return new Promise((resolve) => {
    const entries: [string, string][] = [];
    let rest = '';
    const take = (line: string): void => {
      const { event, param, value } = parseEvent(line);
      if (event !== 'def_param' || param === undefined) return;
      if (param === MARK) resolve(toConfig(entries));
      else entries.push([param, value ?? 'true']);
    };
    pipe.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop()!;
      for (const line of lines) take(line);
    });
    pipe.on('error', () => resolve(null)); // the process is gone, and its exit code says why
    pipe.on('close', () => resolve(null));
  });
}

function parseEvent(line: string): { event?: string; param?: string; value?: string } {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
