import type { EventAnswer, EventFacts, RuntimeSpeech } from '../runtime.ts';
import { type Sent, sourceAt, textAt } from './sent.ts';

/**
 * opencode has plugins in place of hooks. Ours names its events as opencode does, sends `sessionID`, `directory` and, with a prompt,
 * `text`, and is answered `{ "context"?, "notice"?, "hold"? }`: it adds a context to what the model is told next, shows a notice, and
 * prompts the model again with the reason of a hold.
 */
export const opencodeSpeech: RuntimeSpeech = {
  events: {
    'session.created': 'session_start',
    'chat.message': 'prompt',
    'tool.execute.before': 'tool',
    'tool.execute.after': 'tool',
    'session.idle': 'stop',
    'experimental.session.compacting': 'compacting',
    'session.compacted': 'compacted',
    'session.deleted': 'session_end',
  },
  showsNotices: true,
  afterCompaction: 'compacted',
  read: (_, sent) => read(sent),
  spell: (_, __, answer) => spell(answer),
};

function read(sent: Sent): EventFacts {
  return {
    runtimeSession: textAt(sent, 'sessionID'),
    directory: textAt(sent, 'directory'),
    prompt: textAt(sent, 'text'),
    source: sourceAt(sent, 'source'),
    isHeldBefore: sent.stop_hook_active === true,
    isAtWorkBehind: false,
    contextUsed: null,
  };
}

function spell({ context, notice, hold }: EventAnswer): string {
  const answer = { context, notice, hold };
  return Object.values(answer).some((text) => text !== undefined) ? JSON.stringify(answer) : '';
}
