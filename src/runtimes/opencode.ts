import { pluginText } from './opencode-plugin.ts';
import { placeSkill, placeText } from './place.ts';
import type { PlacedPart, RuntimeProgram, Wish } from './runtime-settings.ts';
import { jsonServer } from './settings/json-server.ts';
import { ownFile } from './settings/own-file.ts';
import { opencodeSpeech } from './speech/opencode.ts';
import { agentsSection } from './texts.ts';

const EVENTS = [
  'session.created',
  'chat.message',
  'tool.execute.after',
  'experimental.session.compacting',
  'session.compacted',
  'session.idle',
  'session.deleted',
];

const server = jsonServer(
  'mcp',
  { type: 'local', command: ['git-handoff', 'mcp'] },
  { inEntry: { enabled: true }, inNewFile: { $schema: 'https://opencode.ai/config.json' } },
);

/** It has plugins in place of hooks: a file of ours starts git-handoff. */
export const opencode: RuntimeProgram = {
  name: 'opencode',
  title: 'opencode',
  program: 'opencode',
  speech: opencodeSpeech,
  events: EVENTS,
  project: (wish) => [
    plugin('.opencode/plugin', wish),
    { use: 'server', paths: ['opencode.json', 'opencode.jsonc'], part: server },
    placeText('AGENTS.md', agentsSection),
    placeSkill('.agents/skills', wish),
  ],
  user(wish, { home, env }) {
    const folder = `${env.XDG_CONFIG_HOME || `${home}/.config`}/opencode`;
    return [
      plugin(`${folder}/plugin`, wish),
      { use: 'server', paths: [`${folder}/opencode.json`, `${folder}/opencode.jsonc`], part: server },
      placeSkill(`${home}/.agents/skills`, wish),
    ];
  },
  trust: null,
  byHand: { project: [], user: [] },
};

function plugin(folder: string, { as, digest }: Wish): PlacedPart {
  const part = ownFile({ text: pluginText(as), comment: (marker) => `// ${marker}` }, digest);
  return { use: 'hooks', paths: [`${folder}/git-handoff.js`], part };
}
