import { placeSkill, placeText } from './place.ts';
import type { RuntimeProgram } from './runtime-settings.ts';
import { jsonHooks } from './settings/json-hooks.ts';
import { jsonServer } from './settings/json-server.ts';
import { statusLine } from './settings/status-line.ts';
import { claudeSpeech } from './speech/claude.ts';
import { agentsImport, agentsSection } from './texts.ts';
import { claudeTrust } from './trust.ts';

export const CLAUDE_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PreCompact',
  'PostCompact',
  'Stop',
  'SessionEnd',
];

const server = jsonServer('mcpServers', { command: 'git-handoff', args: ['mcp'] });

/** With CLAUDE_CONFIG_DIR everything is in there; without it the servers are in a file beside the folder. */
export const claude: RuntimeProgram = {
  name: 'claude',
  title: 'Claude Code',
  program: 'claude',
  speech: claudeSpeech,
  events: CLAUDE_EVENTS,
  project: (wish) => [
    {
      use: 'hooks',
      paths: ['.claude/settings.json'],
      part: jsonHooks({ runtime: 'claude', events: CLAUDE_EVENTS, as: wish.as }),
    },
    { use: 'server', paths: ['.mcp.json'], part: server },
    placeText('AGENTS.md', agentsSection),
    placeText('CLAUDE.md', agentsImport),
    placeSkill('.claude/skills', wish),
    // for whoever connects, and nobody else: in the settings that all share it would hide the status lines of others
    { use: 'text', paths: ['.claude/settings.local.json'], part: statusLine('claude') },
  ],
  user(wish, { home, env }) {
    const folder = env.CLAUDE_CONFIG_DIR || `${home}/.claude`;
    const servers = env.CLAUDE_CONFIG_DIR ? `${folder}/.claude.json` : `${home}/.claude.json`;
    return [
      {
        use: 'hooks',
        paths: [`${folder}/settings.json`],
        part: jsonHooks({ runtime: 'claude', events: CLAUDE_EVENTS, as: wish.as }),
      },
      { use: 'server', paths: [servers], part: server },
      placeSkill(`${folder}/skills`, wish),
      { use: 'text', paths: [`${folder}/settings.json`], part: statusLine('claude') },
    ];
  },
  trust: claudeTrust,
  byHand: {
    project: [
      'Start claude here once and say yes when it asks whether you trust the folder, and again to the server handoff of .mcp.json: until then hooks and tools stay off.',
    ],
    user: [],
  },
};
