import { defineVerb } from '../../command.ts';

export const mcp = defineVerb<object, object>({
  name: 'mcp',
  summary: 'an MCP server on standard input and output',
  purpose:
    'Serves the verbs that agents use as tools of the Model Context Protocol, under the names that handoff protocols know: hd_exec, ' +
    'handoff_wrap, thought_record and so on. An agent program starts it; it ends when that closes its end.',
  examples: [{ run: 'git handoff mcp', does: 'as the command of a server in the settings of an agent program' }],
  async run(context) {
    await context.serveClient();
    return {};
  },
  text: async () => '',
});
