import type { RuntimeSpeech } from '../runtime.ts';
import { readHookInput, spellHookOutput } from './hook-output.ts';

/**
 * Gemini CLI. `PreCompress` comes on every turn of the model, whether or not anything is compressed (`trigger: auto`), and nothing says
 * that it was; only of one that a person asked for (`manual`) it is certain.
 * A stop that is held comes back as a prompt, with our reason as its text.
 */
export const geminiSpeech: RuntimeSpeech = {
  events: {
    SessionStart: 'session_start',
    BeforeAgent: 'prompt',
    BeforeTool: 'tool',
    AfterTool: 'tool',
    AfterAgent: 'stop',
    PreCompress: 'compacting',
    SessionEnd: 'session_end',
  },
  showsNotices: true,
  afterCompaction: 'prompt',
  read: (event, sent) => ({
    ...readHookInput(sent),
    ...(event === 'compacting' && sent.trigger === 'auto' ? { isOnEveryTurn: true } : {}),
  }),
  spell: (_, ownName, answer) => spellHookOutput(ownName, answer),
};
