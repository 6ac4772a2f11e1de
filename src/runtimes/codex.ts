import { placeSkill, placeText } from './place.ts';
import type { RuntimeProgram, Wish } from './runtime-settings.ts';
import { jsonHooks } from './settings/json-hooks.ts';
import type { SettingsPart } from './settings/part.ts';
import { tomlServer } from './settings/toml-server.ts';
import { codexSpeech } from './speech/codex.ts';
import { agentsSection } from './texts.ts';
import { codexTrust } from './trust.ts';

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PreCompact', 'PostCompact', 'Stop', 'SessionEnd'];

/** It trusts each hook by a hash of what it runs, and passes over the others without a word. */
const TRUST =
  'Start codex once and choose "Trust all and continue" where it asks about hooks (/hooks shows them later): until then, and after each change of them, it passes over them without a word.';

export const codex: RuntimeProgram = {
  name: 'codex',
  title: 'Codex',
  program: 'codex',
  speech: codexSpeech,
  events: EVENTS,
  project: (wish) => [
    { use: 'hooks', paths: ['.codex/hooks.json'], part: hooks(wish) },
    { use: 'server', paths: ['.codex/config.toml'], part: tomlServer },
    placeText('AGENTS.md', agentsSection),
    placeSkill('.agents/skills', wish),
  ],
  user(wish, { home, env }) {
    const folder = env.CODEX_HOME || `${home}/.codex`;
    return [
      { use: 'hooks', paths: [`${folder}/hooks.json`], part: hooks(wish) },
      { use: 'server', paths: [`${folder}/config.toml`], part: tomlServer },
      placeSkill(`${home}/.agents/skills`, wish),
    ];
  },
  trust: codexTrust,
  byHand: {
    project: ['Say yes when codex asks whether you trust this folder: until then it does not read .codex here.', TRUST],
    user: [TRUST],
  },
};

function hooks({ as }: Wish): SettingsPart {
  return jsonHooks({ runtime: 'codex', events: EVENTS, as });
}
