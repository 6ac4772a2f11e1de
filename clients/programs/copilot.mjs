import { write, writeHome } from '../place.mjs';
import { noteOf, OTHER_SERVER } from './others.mjs';

export const copilot = {
  name: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  packages: { '@github/copilot': '1.0.102' },
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'sk-scripted',
    COPILOT_MODEL: 'scripted',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  headless: (prompt) => ['--prompt', prompt, '--allow-all-tools'],
  interactive: ['--allow-all-tools'],
  ready: /^ *[❯>]/m,
  compact: '/compact',
  compactionEvents: ['compacting'],
  exit: '/exit',
  settle: (place) =>
    writeHome(place, '.copilot/config.json', {
      trusted_folders: [place.work],
      trustedFolders: [place.work],
      banner: 'never',
      firstLaunchAt: '2026-01-01T00:00:00.000Z',
    }),
  own: (place) => {
    const hook = (event) => [{ type: 'command', bash: noteOf(event), timeoutSec: 5 }];
    const hooks = { sessionStart: hook('start'), agentStop: hook('stop') };
    write(place, '.github/hooks/own.json', `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`);
    const other = { type: 'local', ...OTHER_SERVER, tools: ['*'] };
    write(place, '.mcp.json', `${JSON.stringify({ mcpServers: { other } }, null, 2)}\n`);
  },
  writes: ({ work }, path, content) => ({ name: 'create', input: { path: `${work}/${path}`, file_text: content } }),
  calls: (server, tool, input) => ({ name: `${server}-${tool}`, input }),
};
