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

/**
 * In whatever form an earlier version wrote it, or a person who named another path. A command that does something else as well is the
 * user's, although it calls us: replaced or removed, the rest of it would be lost.
 */
export function isOurCommand(command: unknown): boolean {
  if (typeof command !== 'string' || !command.includes('git-handoff')) return false;
  const call = command.replace(GUARDS, '');
  return /\bagent-event\s+\w+/.test(call) && !/[;&|<>`\n]|\$\(/.test(call);
}

/** What stands before the call in this version's form, and in others: nothing is done where git-handoff is not installed. */
const GUARDS =
  /^(?:\[ -f "\$COPILOT_PROJECT_DIR\/\.github\/hooks\/git-handoff\.json" \] && exit 0; )?(?:h=\$\(command -v git-handoff-hook \|\| command -v git-handoff\) \|\| exit 0; |command -v git-handoff(?:-hook)? >\/dev\/null(?: 2>&1)? \|\| exit 0; )?/;

/** Which event of the program it tells of. */
export function eventIn(command: string): string | null {
  return /\bagent-event\s+\w+\s+([\w.]+)/.exec(command)?.[1] ?? null;
}
