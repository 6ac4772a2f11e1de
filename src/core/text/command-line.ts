import { quoteWord } from './quote.ts';

/** A command as `tests_run` lists it once it was run: on one line, and no longer than a line may be. SPEC §9.2 */
export function commandLine({ command }: { command: readonly string[] }): string {
  return command
    .join(' ')
    .replace(/[\n\r]/g, ' ')
    .slice(0, 1000);
}

/** The same command for somebody to type again; a name for it where it is too long for a hint. */
export function typedCommand(command: readonly string[]): string {
  const typed = command.map(quoteWord).join(' ');
  return typed.length > LONGEST_TYPED || /[\x00-\x1f\x7f]/.test(typed) ? 'COMMAND' : typed;
}

const LONGEST_TYPED = 200;
