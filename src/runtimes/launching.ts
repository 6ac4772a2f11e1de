import type { RuntimeName } from './runtime.ts';

/** How a runtime is started for an agent, in a terminal, and how it is told to end. */
export interface Launching {
  /** What to look for on the PATH. */
  program: string;
  /** What it is always started with. */
  args: readonly string[];
  /** How the first prompt is given, so that it needs no keys. */
  prompt(text: string): string[];
  /** What a person types to end it. */
  exitWord: string;
}

/**
 * A first argument that is a word of its own could be a command of the program's, and one that begins with a dash an option: behind a
 * space it is neither.
 */
function asWords(text: string): string[] {
  return [/^-|^\S+$/.test(text) ? ` ${text}` : text];
}

export const LAUNCHING: Readonly<Record<RuntimeName, Launching>> = {
  claude: { program: 'claude', args: [], prompt: asWords, exitWord: '/exit' },
  // by default all its terminals share one process, whose hooks say that they are in the terminal of the first
  codex: { program: 'codex', args: ['-c', 'features.daemon_auto_start=false'], prompt: asWords, exitWord: '/quit' },
  gemini: { program: 'gemini', args: [], prompt: (text) => [`--prompt-interactive=${text}`], exitWord: '/quit' },
  opencode: { program: 'opencode', args: [], prompt: (text) => [`--prompt=${text}`], exitWord: '/exit' },
  copilot: { program: 'copilot', args: [], prompt: (text) => [`--interactive=${text}`], exitWord: '/exit' },
};
