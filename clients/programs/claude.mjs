import { write, writeHome } from '../place.mjs';
import { noteOf, OTHER_SERVER } from './others.mjs';

const KEY = 'sk-scripted-0123456789abcdefghij';

const ALLOWED = ['--permission-mode', 'acceptEdits', '--allowed-tools', 'Bash,mcp__handoff,mcp__other'];

export const claude = {
  name: 'claude',
  title: 'Claude Code',
  program: 'claude',
  packages: { '@anthropic-ai/claude-code': '2.1.326' },
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  }),
  headless: (prompt) => ['--print', prompt, ...ALLOWED],
  interactive: ALLOWED,
  ready: /^❯/m,
  compact: '/compact',
  compactionEvents: ['compacting', 'compacted'],
  exit: '/exit',
  /** Every question of a first start is answered: the theme, the key, whether the folder is trusted. */
  settle: (place) => {
    writeHome(place, '.claude.json', {
      hasCompletedOnboarding: true,
      lastOnboardingVersion: '2.1.326',
      theme: 'dark',
      hasSeenAutoDefaultNotice: true,
      hasSeenAutoDefaultNudge: true,
      officialMarketplaceAutoInstallAttempted: true,
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [place.work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    });
  },
  /** What its user has in the repository already. */
  own: (place) => {
    const hook = (event) => ({ hooks: [{ type: 'command', command: noteOf(event), timeout: 5 }] });
    const settings = {
      permissions: { allow: ['Bash(ls:*)'], deny: ['Read(./.env)'] },
      hooks: { SessionStart: [hook('start')], Stop: [hook('stop')] },
      enableAllProjectMcpServers: true,
    };
    write(place, '.claude/settings.json', `${JSON.stringify(settings, null, 4)}\n`);
    write(place, '.mcp.json', `${JSON.stringify({ mcpServers: { other: OTHER_SERVER } }, null, '\t')}`);
  },
  writes: ({ work }, path, content) => ({ name: 'Write', input: { file_path: `${work}/${path}`, content } }),
  runs: (command) => ({ name: 'Bash', input: { command, description: 'A command' } }),
  calls: (server, tool, input) => ({ name: `mcp__${server}__${tool}`, input }),
};
