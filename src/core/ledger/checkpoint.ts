import { fromBase64, toBase64 } from '../bytes/bytes.ts';
import { HandoffError } from '../error.ts';

// Source: C2SP tlog-checkpoint.

/** The head of a log: its name, how many leaves it has, and the root over them. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
  extensions: string[];
}

const SIZE = /^(?:0|[1-9][0-9]{0,15})$/;

/** The name of a repository's ledger, and of the keys that sign it. */
export function ledgerOrigin(repoId: string): string {
  return `git-handoff/${repoId}`;
}

/** From the text of a note. Who signed it is for `openNote` to say. */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split('\n');
  if (lines.pop() !== '' || lines.length < 3 || lines.includes(''))
    throw malformed('at least three lines, none of them blank', text);
  const [origin, size, base64, ...extensions] = lines as [string, string, string, ...string[]];
  const root = fromBase64(base64);
  if (root?.length !== 32) throw malformed('32 bytes in base64 as the root', base64);
  return { origin, size: parseSize(size), root, extensions };
}

/** Refuses what `parseCheckpoint` would not read as the same. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  const lines = [origin, String(size), toBase64(root), ...extensions];
  const text = `${lines.join('\n')}\n`;
  parseCheckpoint(text);
  if (text.split('\n').length !== lines.length + 1) throw malformed('an origin and extensions of one line each', text);
  return text;
}

function parseSize(text: string): number {
  const size = SIZE.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw malformed('a size from 0 to 2^53-1 in decimal', text);
  return size;
}

function malformed(expected: string, found: string): HandoffError {
  const shown = JSON.stringify(found.length > 80 ? `${found.slice(0, 77)}…` : found);
  return new HandoffError('ledger_inconsistent', `Not a checkpoint: expected ${expected}, found ${shown}.`, {
    hint: 'Restore the checkpoint from git.',
    data: { expected, found: shown },
  });
}
