import { CLAUDE_EVENTS } from './claude.ts';
import { jsonHooks } from './settings/json-hooks.ts';
import { jsonServer } from './settings/json-server.ts';
import { SKILL } from './texts.ts';

/**
 * A plugin for Claude Code with all that connect would write for a user, as files by their path: for whoever would rather install a
 * folder than have settings changed.
 */
export function claudePlugin(version: string): Record<string, string> {
  const description = 'Hands work from one agent to the next by signed records in the repository.';
  return {
    '.claude-plugin/plugin.json': `${JSON.stringify({ name: 'git-handoff', version, description }, null, 2)}\n`,
    '.mcp.json': jsonServer('mcpServers', { command: 'git-handoff', args: ['mcp'] }).added(null),
    'hooks/hooks.json': jsonHooks({ runtime: 'claude', events: CLAUDE_EVENTS }).added(null),
    'skills/git-handoff/SKILL.md': SKILL.replace('%MARKER%\n\n', ''),
  };
}
