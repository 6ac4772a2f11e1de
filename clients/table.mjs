import { claude } from './programs/claude.mjs';
import { codex } from './programs/codex.mjs';
import { copilot } from './programs/copilot.mjs';
import { gemini } from './programs/gemini.mjs';
import { opencode } from './programs/opencode.mjs';
import { beside } from './scenarios/beside.mjs';
import { handoff } from './scenarios/handoff.mjs';
import { headless } from './scenarios/headless.mjs';
import { plugin } from './scenarios/plugin.mjs';
import { relay } from './scenarios/relay.mjs';
import { terminal } from './scenarios/terminal.mjs';
import { untrusted } from './scenarios/untrusted.mjs';
import { without } from './scenarios/without.mjs';

export const PROGRAMS = [claude, codex, gemini, opencode, copilot];

const EACH = [
  { title: 'without a terminal', play: headless },
  { title: 'in a terminal', play: terminal, isChain: true, needsTerminal: true },
  { title: 'where git-handoff is not installed', play: without },
];

/** Everything that is run, in this order, one after the other. */
export const SCENARIOS = [
  ...PROGRAMS.flatMap((program) => EACH.map((scenario) => forProgram(program, scenario))),
  forProgram(claude, { title: 'with the plugin folder', play: plugin }),
  forProgram(codex, { title: 'with hooks that nobody has trusted', play: untrusted }),
  forProgram(copilot, {
    title: 'where Claude Code is connected, too',
    play: (place, program, claim) => beside(place, program, claude, claim),
  }),
  {
    title: 'Claude Code hands over to Codex',
    programs: [claude, codex],
    isChain: true,
    play: (place, claim) => handoff(place, { claude, codex }, claim),
  },
  {
    title: 'Claude Code is replaced by Codex',
    programs: [claude, codex],
    isChain: true,
    needsTerminal: true,
    play: (place, claim) => relay(place, { claude, codex }, claim),
  },
];

function forProgram(program, { title, play, ...rest }) {
  return {
    ...rest,
    title: `${program.title} ${title}`,
    programs: [program],
    play: (place, claim) => play(place, program, claim),
  };
}
