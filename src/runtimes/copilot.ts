import { placeSkill, placeText } from './place.ts';
import type { PlacedPart, RuntimeProgram, Wish } from './runtime-settings.ts';
import { jsonOwnHooks } from './settings/json-own-hooks.ts';
import { jsonServer } from './settings/json-server.ts';
import { copilotSpeech } from './speech/copilot.ts';
import { agentsSection } from './texts.ts';
import { copilotTrust } from './trust.ts';

const EVENTS = ['sessionStart', 'userPromptSubmitted', 'postToolUse', 'preCompact', 'agentStop', 'sessionEnd'];

const START = { command: 'git-handoff', args: ['mcp'] };

/** In a repository it reads the servers that Claude Code reads, too. */
export const copilot: RuntimeProgram = {
  name: 'copilot',
  title: 'Copilot CLI',
  program: 'copilot',
  speech: copilotSpeech,
  events: EVENTS,
  project: (wish) => [
    hooks('.github/hooks', wish),
    { use: 'server', paths: ['.mcp.json'], part: jsonServer('mcpServers', START) },
    placeText('AGENTS.md', agentsSection),
    placeSkill('.agents/skills', wish),
  ],
  user(wish, { home, env }) {
    const folder = env.COPILOT_HOME || `${home}/.copilot`;
    const server = jsonServer('mcpServers', START, { inEntry: { tools: ['*'] } });
    return [
      hooks(`${folder}/hooks`, wish),
      { use: 'server', paths: [`${folder}/mcp-config.json`], part: server },
      placeSkill(`${home}/.agents/skills`, wish),
    ];
  },
  trust: copilotTrust,
  byHand: {
    project: ['Start copilot here once and trust the folder when it asks: until then it runs no hooks of it.'],
    user: [],
  },
};

function hooks(folder: string, { as }: Wish): PlacedPart {
  const part = jsonOwnHooks({ runtime: 'copilot', events: EVENTS, as });
  return { use: 'hooks', paths: [`${folder}/git-handoff.json`], part };
}
