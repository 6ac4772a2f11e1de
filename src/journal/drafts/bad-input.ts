import { HandoffError } from '../../core/error.ts';

/** Codes that the readers use for files. For text that was just given to us, and that nobody has signed, `usage` is the right code. */
const OF_FILES: ReadonlySet<string> = new Set(['schema_invalid', 'yaml_invalid', 'too_large', 'bytes_invalid']);

/** Writes or reads a draft of ours: what no record can hold is `usage`, and the message names the flag. */
export function asInput<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw asBadInput(error);
  }
}

/** The same for an error that was caught elsewhere. */
export function asBadInput(error: unknown): unknown {
  return error instanceof HandoffError && OF_FILES.has(error.code) ? toUsage(error) : error;
}

/** Why a file that somebody named cannot be read, in words where they are better than those of the system. */
export function whyUnreadable({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file.';
  return code === 'EISDIR' ? 'that is a folder.' : message;
}

/** Where a key of a record comes from on the command line. */
const FLAGS: Readonly<Record<string, string>> = {
  title: '--title',
  status: '--status',
  supersedes: '--supersedes',
  type: '--type',
  intent: '--intent',
  task: '--task',
  reason: '--reason',
  summary: '--summary',
  next_agent: '--next-agent',
  focus: '--focus',
  text: 'The text',
  depends_on: '--depends',
  tags: '--tag',
  priority: '--priority',
  acceptance: '--accept',
  prompt: '--prompt',
  progress: '--progress',
  notes: '--notes',
};

function toUsage(error: HandoffError): HandoffError {
  const { message, hint, data = {} } = error;
  const key = data.key ?? data.path;
  if (typeof key !== 'string')
    return new HandoffError('usage', message, { ...(hint ? { hint } : {}), data, cause: error });
  const flag = FLAGS[key.split(/[.[]/, 1)[0]!] ?? key;
  return new HandoffError('usage', `${flag}: expected ${data.expected}, found ${data.found}.`, {
    hint: 'No record was written. Correct it, then run the command again.',
    data: { ...data, flag },
    cause: error,
  });
}
