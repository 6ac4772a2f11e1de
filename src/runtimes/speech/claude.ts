import type { RuntimeSpeech } from '../runtime.ts';
import { readHookInput, spellHookOutput } from './hook-output.ts';

/**
 * Claude Code. After a compaction a session starts once more, with `source: compact`: there it can be told what it forgot. A
 * `Stop` that is answered with context alone goes on as well, so it is told nothing there but by a hold.
 */
export const claudeSpeech: RuntimeSpeech = {
  events: {
    SessionStart: 'session_start',
    UserPromptSubmit: 'prompt',
    PreToolUse: 'tool',
    PostToolUse: 'tool',
    PostToolUseFailure: 'tool',
    SubagentStart: 'tool',
    SubagentStop: 'tool', // also that of its own work, as in a compaction: no stop of the agent
    Stop: 'stop',
    PreCompact: 'compacting',
    PostCompact: 'compacted',
    SessionEnd: 'session_end',
    StatusLine: 'context',
  },
  showsNotices: true,
  afterCompaction: 'session_start',
  read: (_, sent) => readHookInput(sent),
  spell: (_, ownName, answer) => spellHookOutput(ownName, answer),
};
