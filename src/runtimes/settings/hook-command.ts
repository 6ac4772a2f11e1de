import { quoteWord } from '../../core/text/quote.ts';
import type { RuntimeName } from '../runtime.ts';

/**
 * What a hook runs. Where git-handoff is not installed it ends well and says nothing: the settings may be in the repository, and
 * others open it. The shell front is preferred, which does without Node where there is nothing to say.
 */
export function hookCommand(runtime: RuntimeName, event: string, as?: string): string {
  const who = as === undefined ? '' : ` --as ${quoteWord(as)}`;
  const unless = runtime === 'claude' ? UNLESS_COPILOT : '';
  return `${unless}h=$(command -v git-handoff-hook || command -v git-handoff) || exit 0; exec "$h" agent-event ${runtime} ${event}${who}`;
}

/** Copilot CLI runs the hooks of Claude Code, too. Where it has ours of its own, it would tell of everything twice. */
const UNLESS_COPILOT = '[ -f "$COPILOT_PROJECT_DIR/.github/hooks/git-handoff.json" ] && exit 0; ';

/** In whatever form an earlier version wrote it, or a person who named another path. */
export function isOurCommand(command: unknown): boolean {
  return typeof command === 'string' && command.includes('git-handoff') && /\bagent-event\s+\w+/.test(command);
}

/** Which event of the program it tells of. */
export function eventIn(command: string): string | null {
  return /\bagent-event\s+\w+\s+([\w.]+)/.exec(command)?.[1] ?? null;
}
