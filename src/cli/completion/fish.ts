import { askNames, commandWords, type FlagWords, GLOBAL_WORDS, quote, type Words } from './words.ts';

/** Fish asks of each line whether it applies; the same lines serve `git-handoff` and `git handoff`. */
export function fish(): string {
  const lines = commandWords().flatMap(commandLines);
  return `# fish completion for git-handoff
function __git_handoff_at # the words so far, flags aside, are these; with --within: begin with these
    argparse within -- $argv
    set -l words (string match -v -- '-*' (commandline -opc))
    set -e words[1]
    if set -q _flag_within; and test (count $argv) -gt 0
        set words $words[1..(count $argv)]
    end
    test "$words" = "$argv"
end
${lines.join('\n')}
`;
}

function commandLines({ path, next, flags, named }: Words): string[] {
  return [
    ['git-handoff', path],
    ['git', `handoff ${path}`.trim()],
  ].flatMap(([command = '', words = '']) => [
    ...(named === null
      ? []
      : [line(command, `__git_handoff_at ${words}`, `-f -a ${quote(`(${askNames(named)})`)}`, '')]),
    ...next.map(({ word, about }) => line(command, `__git_handoff_at ${words}`, `-f -a ${word}`, about)),
    ...[...GLOBAL_WORDS, ...flags].map((flag) =>
      line(command, `__git_handoff_at ${path === '' ? '' : '--within '}${words}`, flagArguments(flag), flag.about),
    ),
  ]);
}

function line(command: string, condition: string, rest: string, about: string): string {
  return `complete -c ${command} -n ${quote(condition.trim())} ${rest}${about === '' ? '' : ` -d ${quote(about)}`}`;
}

function flagArguments({ names, takesValue, choices, named }: FlagWords): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  if (choices.length > 0) return `${flags} -x -a ${quote(choices.join(' '))}`;
  if (named !== null) return `${flags} -x -a ${quote(`(${askNames(named)})`)}`;
  return takesValue ? `${flags} -r` : flags;
}
