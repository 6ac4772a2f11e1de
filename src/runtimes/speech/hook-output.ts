import type { EventAnswer, EventFacts } from '../runtime.ts';
import { objectAt, percentAt, type Sent, sourceAt, textAt } from './sent.ts';

// Claude Code's hooks came first, and others took over how they speak: JSON with these keys, and answers with those.

export function readHookInput(sent: Sent): EventFacts {
  return {
    runtimeSession: textAt(sent, 'session_id'),
    directory: textAt(sent, 'cwd'),
    prompt: textAt(sent, 'prompt'),
    source: sourceAt(sent, 'source'),
    isHeldBefore: sent.stop_hook_active === true,
    isAtWorkBehind: Array.isArray(sent.background_tasks) && sent.background_tasks.length > 0,
    contextUsed: percentAt(objectAt(sent, 'context_window'), 'used_percentage'),
  };
}

/** A hold leaves no room for anything else: what is to be told is its reason. */
export function spellHookOutput(hookEventName: string, { context, notice, hold }: EventAnswer): string {
  if (hold !== undefined) return JSON.stringify({ decision: 'block', reason: hold });
  const output = {
    ...(notice === undefined ? {} : { systemMessage: notice }),
    ...(context === undefined ? {} : { hookSpecificOutput: { hookEventName, additionalContext: context } }),
  };
  return Object.keys(output).length === 0 ? '' : JSON.stringify(output);
}
