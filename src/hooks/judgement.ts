import type { Finding } from '../core/error.ts';
import type { Repository } from '../repository/repository.ts';
import type { GateOptions } from '../verbs/writeback/gate.ts';

/** What a hook says of one ref, or of what is staged. */
export interface Judgement {
  /** Null: of no ref. */
  ref: string | null;
  pass: boolean;
  /** Why, where nothing was judged. */
  reason: string | null;
  findings: Finding[];
  /** Whether the policy only advises, so that what a writeback lacks refuses nothing. */
  advisory: boolean;
}

/** What git tells a hook. */
export interface HookCall {
  args: readonly string[];
  readInput(): Promise<string>;
  env: NodeJS.ProcessEnv;
}

export function passed(ref: string | null, reason = 'it is not protected'): Judgement {
  return { ref, pass: true, reason, findings: [], advisory: false };
}

export function refused(ref: string, reason: string): Judgement {
  return { ref, pass: false, reason, findings: [], advisory: false };
}

/** May a commit take the place of another on a protected branch? */
export async function judge(
  repository: Repository,
  ref: string,
  options: Omit<GateOptions, 'replaces'>,
): Promise<Judgement> {
  const { gate } = await import('../verbs/writeback/gate.ts');
  const { pass, findings, advisory } = await gate(repository, { ...options, replaces: true });
  return { ref, pass, reason: null, findings, advisory };
}

export function linesOf(input: string): string[] {
  return input.split('\n').filter((line) => line !== '');
}
