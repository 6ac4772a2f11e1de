import { defineVerb } from '../../command.ts';
import type { EventAnswered, EventWords } from './answer-event.ts';

export const agentEvent = defineVerb<EventWords, EventAnswered>({
  name: 'agent-event',
  summary: "what happens in an agent's program",
  purpose:
    'Called by the hooks of agent programs, with what they tell as JSON on standard input; the answer is in the form that the program ' +
    'reads. When a session starts, it says where the work stands; prompts and tools are signs of life; before a compaction it writes a ' +
    'checkpoint; a stop is reminded of what is owed, as agents.stop of the policy says. Whatever goes wrong, it says nothing and exits 0.',
  args: [
    { name: 'RUNTIME', about: 'claude, codex, gemini, opencode or copilot' },
    {
      name: 'EVENT',
      about: "the program's own name of the event, or ours: session_start, prompt, tool, stop and so on",
    },
  ],
  examples: [
    {
      run: 'git handoff agent-event claude SessionStart',
      does: 'in the settings of Claude Code, through git-handoff-hook',
    },
  ],
  run: async (context, options) => (await import('./answer-event.ts')).answerEvent(context, options),
  text: async () => '',
  formatted: async ({ answer }) => answer,
});
