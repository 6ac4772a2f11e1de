import { placeSkill, placeText } from './place.ts';
import type { PlacedPart, RuntimeProgram, Wish } from './runtime-settings.ts';
import { jsonHooks } from './settings/json-hooks.ts';
import { jsonServer } from './settings/json-server.ts';
import { geminiSpeech } from './speech/gemini.ts';
import { agentsImport, agentsSection } from './texts.ts';
import { geminiTrust } from './trust.ts';

const EVENTS = ['SessionStart', 'BeforeAgent', 'AfterTool', 'PreCompress', 'AfterAgent', 'SessionEnd'];

const server = jsonServer('mcpServers', { command: 'git-handoff', args: ['mcp'] });

/** It reads GEMINI.md in place of AGENTS.md, and hooks and servers in one file. */
export const gemini: RuntimeProgram = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  speech: geminiSpeech,
  events: EVENTS,
  project: (wish) => [
    ...settings('.gemini/settings.json', wish),
    placeText('AGENTS.md', agentsSection),
    placeText('GEMINI.md', agentsImport),
    placeSkill('.agents/skills', wish),
  ],
  user: (wish, { home, env }) => [
    ...settings(`${env.GEMINI_CLI_HOME || home}/.gemini/settings.json`, wish),
    placeSkill(`${home}/.agents/skills`, wish),
  ],
  trust: geminiTrust,
  byHand: {
    project: [
      'Start gemini here once and trust the folder when it asks: until then it does not read .gemini here. --skip-trust is not enough.',
    ],
    user: [],
  },
};

function settings(path: string, { as }: Wish): PlacedPart[] {
  return [
    { use: 'hooks', paths: [path], part: jsonHooks({ runtime: 'gemini', events: EVENTS, as }) },
    { use: 'server', paths: [path], part: server },
  ];
}
