import type { EventAnswer, EventFacts, RuntimeSpeech } from '../runtime.ts';
import { type Sent, sourceAt, textAt } from './sent.ts';

/** Copilot CLI. It has no event after a compaction. A stop that is held comes back as a prompt, with our reason as its text. */
export const copilotSpeech: RuntimeSpeech = {
  events: {
    sessionStart: 'session_start',
    userPromptSubmitted: 'prompt',
    preToolUse: 'tool',
    postToolUse: 'tool',
    subagentStop: 'tool',
    agentStop: 'stop',
    preCompact: 'compacting',
    sessionEnd: 'session_end',
  },
  showsNotices: false,
  afterCompaction: 'prompt',
  read: (_, sent) => read(sent),
  spell: (_, __, answer) => spell(answer),
};

function read(sent: Sent): EventFacts {
  return {
    runtimeSession: textAt(sent, 'sessionId'),
    directory: textAt(sent, 'cwd'),
    prompt: textAt(sent, 'prompt'),
    source: sourceAt(sent, 'source'),
    isHeldBefore: sent.stop_hook_active === true,
    isAtWorkBehind: false,
    contextUsed: null,
  };
}

function spell({ context, hold }: EventAnswer): string {
  if (hold !== undefined) return JSON.stringify({ decision: 'block', reason: hold });
  return context === undefined ? '' : JSON.stringify({ additionalContext: context });
}
