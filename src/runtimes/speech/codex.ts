import type { RuntimeSpeech } from '../runtime.ts';
import { readHookInput, spellHookOutput } from './hook-output.ts';

/** Codex. It has no word for how full its context is. After a compaction a session starts once more, as in Claude Code. */
export const codexSpeech: RuntimeSpeech = {
  events: {
    SessionStart: 'session_start',
    UserPromptSubmit: 'prompt',
    PreToolUse: 'tool',
    PostToolUse: 'tool',
    PermissionRequest: 'tool',
    SubagentStart: 'tool',
    SubagentStop: 'tool',
    Stop: 'stop',
    PreCompact: 'compacting',
    PostCompact: 'compacted',
    SessionEnd: 'session_end',
  },
  showsNotices: true,
  afterCompaction: 'session_start',
  read: (_, sent) => readHookInput(sent),
  spell: (_, ownName, answer) => spellHookOutput(ownName, answer),
};
