/** A command as `tests_run` lists it once it was run: on one line, and no longer than a line may be. SPEC §9.2 */
export function commandLine({ command }: { command: readonly string[] }): string {
  return command
    .join(' ')
    .replace(/[\n\r]/g, ' ')
    .slice(0, 1000);
}
