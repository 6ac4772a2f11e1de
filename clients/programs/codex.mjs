import { write, writeHome } from '../place.mjs';
import { noteOf, OTHER_SERVER } from './others.mjs';

export const codex = {
  name: 'codex',
  title: 'Codex',
  program: 'codex',
  packages: { '@openai/codex': '0.169.0' },
  env: () => ({ SCRIPTED_KEY: 'sk-scripted' }),
  // Without a terminal nobody can say that the hooks are trusted.
  headless: (prompt) => ['exec', '--dangerously-bypass-hook-trust', prompt],
  untrusted: (prompt) => ['exec', prompt],
  interactive: [],
  questions: [{ asks: /Hooks need review/, keys: ['Down', 'Enter'] }], // trust all, and continue
  ready: /Ask Codex/,
  compact: '/compact',
  compactionEvents: ['compacting', 'compacted'],
  exit: '/quit',
  settle: (place) => writeHome(place, '.codex/config.toml', settings(place)),
  own: (place) => {
    write(place, '.codex/config.toml', `# Ours, and in this order.\n[mcp_servers.other] # colours\n${server()}`);
    const hook = (event) => ({ hooks: [{ type: 'command', command: noteOf(event) }] });
    const hooks = { SessionStart: [hook('start')], Stop: [hook('stop')] };
    write(place, '.codex/hooks.json', `${JSON.stringify({ hooks }, null, 2)}\n`);
  },
  writes: (_place, path, content) => ({
    name: 'apply_patch',
    raw: `*** Begin Patch\n*** Add File: ${path}\n+${content.trimEnd()}\n*** End Patch\n`,
  }),
  runs: (cmd) => ({ name: 'exec_command', input: { cmd } }),
  calls: (server, name, input) => ({ name, group: `mcp__${server}`, input }),
};

function server() {
  return `command = "${OTHER_SERVER.command}"\nargs = ${JSON.stringify(OTHER_SERVER.args)}\n`;
}

function settings({ work, model }) {
  return `model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[tui]
show_tooltips = false
animations = false

[features]
daemon_auto_start = false

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[projects."${work}"]
trust_level = "trusted"
`;
}
