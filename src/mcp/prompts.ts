import type { GetPromptResult, McpServer } from '@modelcontextprotocol/server';
import { batons } from '../cli/commands/session/sessions.ts';
import { escapeText } from '../cli/text/escape.ts';
import { VERBS } from '../verbs/table.ts';
import { asText } from './answer.ts';
import { type Setting, withRepository } from './setting.ts';

/** For a person who picks one from a menu: the two moments at which work changes hands. */
export function offerPrompts(server: McpServer, setting: Setting): void {
  server.registerPrompt('pickup', { description: 'continue what somebody left' }, () =>
    setting.inTurn(async () => {
      const waiting = await withRepository(setting, setting.directory, [], async (repository) =>
        (await VERBS.batons())(repository),
      );
      return asked(
        'Continue the work in this repository: call hd_exec, read the baton that it hands you, and say in a sentence what you ' +
          `will do next before you do it. What waits:\n\n${await asText(batons, waiting, setting.directory)}`,
      );
    }),
  );
  server.registerPrompt('wrap', { description: 'end the session with a baton' }, () =>
    setting.inTurn(async () => {
      const { draft } = await withRepository(setting, setting.directory, [], async (repository) =>
        (await VERBS.wrapDraft())(repository),
      );
      return asked(
        'Stop here and hand over: complete this draft with what you understood and a successor cannot know, leave out what is ' +
          `empty, then call handoff_wrap with it as body.\n\n${escapeText(draft)}`,
      );
    }),
  );
}

function asked(text: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
