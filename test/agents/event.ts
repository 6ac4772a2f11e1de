import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CLI } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { isolatedEnv } from '../temporary.ts';

export const HOOK = fileURLToPath(new URL('../../dist/hook.sh', import.meta.url));

/** The two ways to the same answer: what hooks call, and what that starts where it has something to say. */
export const WAYS = {
  'git-handoff-hook agent-event': ['sh', HOOK],
  'git-handoff agent-event': [process.execPath, CLI],
} as const;
export type Way = keyof typeof WAYS;

export interface Told {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What an agent's program does: it starts a hook where it works itself, and writes JSON to it. */
export function tell(
  { dir, env }: Pick<Place, 'dir' | 'env'>,
  words: readonly string[],
  sent: unknown,
  way: Way = 'git-handoff-hook agent-event',
): Told {
  const input = typeof sent === 'string' || sent instanceof Uint8Array ? sent : JSON.stringify(sent);
  const [command, script] = WAYS[way];
  const { status, stdout, stderr }: SpawnSyncReturns<string> = spawnSync(command, [script, 'agent-event', ...words], {
    cwd: dir,
    env: { ...isolatedEnv, ...env },
    input,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

/** What the hooks of Claude Code, Codex and Gemini send with every event. */
export function hookInput(event: string, cwd: string, more: object = {}) {
  return {
    session_id: 'c02b7c54-378e-495b-a23b-759f42c385b7',
    transcript_path: '/home/tester/transcript.jsonl',
    cwd,
    hook_event_name: event,
    ...more,
  };
}

/** What a model is told by an answer of theirs. */
export function contextIn({ stdout }: Told): string {
  return stdout === '' ? '' : (JSON.parse(stdout).hookSpecificOutput?.additionalContext ?? '');
}
