import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { write, writeHome } from '../place.mjs';
import { OTHER_SERVER } from './others.mjs';

const VERSION = '1.18.33';

export const opencode = {
  name: 'opencode',
  title: 'opencode',
  program: 'opencode',
  packages: { 'opencode-ai': VERSION },
  beside: { '@opencode-ai/plugin': VERSION },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }),
  headless: (prompt) => ['run', prompt],
  interactive: [],
  ready: /Ask anything/,
  compact: '/compact',
  compactionEvents: ['compacting', 'compacted'],
  exit: '/exit',
  lacks: [
    {
      what: 'the end of its session is told',
      why: 'a session of opencode ends when its user deletes it',
    },
    {
      scenario: 'opencode without a terminal',
      what: 'a stop is held once, and then let go',
      why: 'opencode run has ended before a plugin can answer',
    },
  ],
  settle: (place, folder) => {
    writeHome(place, '.config/opencode/opencode.json', settings(place));
    for (const own of [join(place.home, '.config', 'opencode'), join(place.work, '.opencode')])
      seed(own, join(folder, 'beside'));
  },
  own: (place) => {
    // The first line of the settings, and the file that git ignores: opencode writes both by itself where they are missing.
    write(place, '.opencode/.gitignore', 'node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore\n');
    const other = { type: 'local', command: [OTHER_SERVER.command, ...OTHER_SERVER.args] };
    write(
      place,
      'opencode.jsonc',
      `{
  "$schema": "https://opencode.ai/config.json",
  // Colours come from a server of ours.
  "mcp": { "other": ${JSON.stringify(other)}, },
}
`,
    );
    write(place, '.opencode/plugin/own.js', OWN_PLUGIN);
  },
  writes: ({ work }, path, content) => ({ name: 'write', input: { filePath: `${work}/${path}`, content } }),
  calls: (server, tool, input) => ({ name: `${server}_${tool}`, input }),
};

const OWN_PLUGIN = `import { appendFileSync } from 'node:fs';
export const Own = async () => ({
  event: async ({ event }) => {
    const name = { 'session.created': 'start', 'session.idle': 'stop' }[event.type];
    if (name) appendFileSync(process.env.OTHERS_LOG, name + '\\n');
  },
});
`;

/** It fetches its plugin package into each of its folders as it starts; without a network it waits more than a minute for that. */
function seed(own, folder) {
  mkdirSync(own, { recursive: true });
  cpSync(join(folder, 'package.json'), join(own, 'package.json'));
  cpSync(join(folder, 'package-lock.json'), join(own, 'package-lock.json'));
  symlinkSync(join(folder, 'node_modules'), join(own, 'node_modules'));
}

function settings({ model }) {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    enabled_providers: ['scripted'],
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${model.url}/v1`, apiKey: 'sk-scripted' },
        models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 8000 } } },
      },
    },
    permission: { edit: 'allow', bash: 'allow' },
  };
}
