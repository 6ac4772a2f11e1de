import { write, writeHome } from '../place.mjs';
import { noteOf, OTHER_SERVER } from './others.mjs';

export const gemini = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  packages: { '@google/gemini-cli': '0.61.0' },
  env: ({ model }) => ({
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_API_KEY: 'scripted',
    GEMINI_TELEMETRY_ENABLED: 'false',
  }),
  headless: (prompt) => ['--prompt', prompt, '--yolo', '--skip-trust'],
  interactive: ['--approval-mode=yolo'],
  ready: /Type your message/,
  compact: '/compress',
  compactionEvents: ['compacting'],
  exit: '/quit',
  settle: (place) =>
    writeHome(place, '.gemini/settings.json', {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      model: { name: 'gemini-2.5-flash' },
    }),
  own: (place) => {
    const hook = (event) =>
      `[{ "hooks": [{ "type": "command", "name": "own-${event}", "command": ${JSON.stringify(noteOf(event))} }] }]`;
    write(
      place,
      '.gemini/settings.json',
      `{
  // Colours come from a server of ours.
  "mcpServers": { "other": ${JSON.stringify({ ...OTHER_SERVER, trust: true })} },
  "hooks": {
    "SessionStart": ${hook('start')}, /* both are ours */
    "AfterAgent": ${hook('stop')}
  }
}
`,
    );
  },
  writes: ({ work }, path, content) => ({ name: 'write_file', input: { file_path: `${work}/${path}`, content } }),
  calls: (server, tool, input) => ({ name: `mcp_${server}_${tool}`, input }),
};
