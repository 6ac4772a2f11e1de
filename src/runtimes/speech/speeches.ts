import type { AgentEvent, RuntimeName, RuntimeSpeech } from '../runtime.ts';
import { AGENT_EVENTS, RUNTIME_NAMES } from '../runtime.ts';
import { claudeSpeech } from './claude.ts';
import { codexSpeech } from './codex.ts';
import { copilotSpeech } from './copilot.ts';
import { geminiSpeech } from './gemini.ts';
import { opencodeSpeech } from './opencode.ts';

/** How each runtime speaks, without what it takes to find or to connect one: an event has no time for that. */
export const SPEECHES: Readonly<Record<RuntimeName, RuntimeSpeech>> = {
  claude: claudeSpeech,
  codex: codexSpeech,
  gemini: geminiSpeech,
  opencode: opencodeSpeech,
  copilot: copilotSpeech,
};

export function runtimeNamed(word: string): RuntimeName | null {
  return RUNTIME_NAMES.find((name) => name === word.toLowerCase()) ?? null;
}

/** An event as its runtime names it, or as we do, in any case. Null: no event that this runtime has. */
export function eventNamed(runtime: RuntimeName, word: string): { event: AgentEvent; ownName: string } | null {
  const wanted = word.toLowerCase();
  const ours = AGENT_EVENTS.find((event) => event === wanted);
  const names = Object.entries(SPEECHES[runtime].events);
  const found = names.find(([name, event]) => name.toLowerCase() === wanted || event === ours);
  return found ? { event: found[1], ownName: found[0] } : null;
}
