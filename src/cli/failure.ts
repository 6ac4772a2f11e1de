import { HandoffError } from '../core/error.ts';
import type { Paint } from './terminal.ts';
import { escapeResult, escapeText } from './text/escape.ts';

/** What ended a command, ready to print. `stack` only when it is our bug. */
export interface Failure {
  code: string;
  message: string;
  hint: string | null;
  data: Record<string, unknown> | null;
  exitCode: number;
  stack?: string;
}

export function toFailure(error: unknown): Failure {
  const failure = asHandoffError(error);
  if (!failure) return bug(error);
  const { code, message, hint = null, data = null, exitCode } = failure;
  return { code, message, hint, data, exitCode };
}

export function formatFailure(failure: Failure, paint: Paint): string {
  const { message, hint } = escapeResult(failure);
  const lines = [`${paint('red', 'error:')} ${message}`];
  if (hint) lines.push(`${paint('cyan', 'hint:')}  ${hint}`);
  if (failure.stack) lines.push('', escapeText(failure.stack));
  return `${lines.join('\n')}\n`;
}

const FOLLOWING: ReadonlySet<string> = new Set(['predecessor_active', 'identity_conflict']);

/** Whoever wanted to follow another, and was refused, must not keep that one alive by asking. */
export function isFollowing(error: unknown): boolean {
  return error instanceof HandoffError && FOLLOWING.has(error.code);
}

function asHandoffError(error: unknown): HandoffError | null {
  if (error instanceof HandoffError) return error;
  if (isSystemError(error)) return new HandoffError('io', error.message, { hint: ioHint(error), cause: error });
  return null;
}

/** The operating system refused: nobody's bug. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'errno' in error;
}

function ioHint({ code }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some space, then run it again.';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'Check who may read and write there.';
  return 'Check that the path exists and can be read, then run it again.';
}

function bug(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return {
    code: 'internal',
    message: `This is a bug in git-handoff: ${message}`,
    hint: 'Please report it with the lines below and the command you ran.',
    data: null,
    exitCode: 4,
    stack: stack ?? message,
  };
}
