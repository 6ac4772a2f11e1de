import {
  askNames,
  commandWords,
  familyNames,
  flagNames,
  GLOBAL_WORDS,
  namedFlags,
  quote,
  valuedFlags,
  type Words,
} from './words.ts';

/** `git handoff` comes through git's own completion, which calls _git_handoff with `words` and `cword` set. */
export function bash(): string {
  const all = commandWords();
  return `# bash completion for git-handoff: source <(git-handoff completion bash)
__git_handoff_reply() { # what is being typed, the word before it, then the words since the command
  local cur="$1" prev="$2" verb='' skip='' word next='' named='' flags=${quote(flagNames(GLOBAL_WORDS).join(' '))}
  shift 2
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      ${valuedFlags()}) skip=1 ;;
      -*) ;;
      *) case "$verb" in ''|${familyNames()}) verb="\${verb:+$verb }$word" ;; esac ;;
    esac
  done
  case "$verb" in
${all.map(wordsCase).join('\n')}
  esac
  case "$verb $prev" in
${all.flatMap(choicesCases).join('\n')}
  *) [ -z "$skip" ] || { next=''; named=''; } ;;
  esac
  [ -z "$skip" ] || case "$prev" in
${namedFlags()
  .map(([kind, flags]) => `    ${flags}) named=${kind} ;;`)
  .join('\n')}
  esac
  case "$cur" in -*) ;; *) # compgen expands words once more: nothing but letters, digits, dot, dash and underscore may get there
    [ -z "$named" ] || next="$next $(${askNames('"$named"')} | tr -cd '0-9A-Za-z._\n-')" ;;
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$next" -- "$cur")) ;;
  esac
}
_git_handoff() {
  local at=1
  while [ "$at" -lt "$cword" ] && [ "\${words[at]}" != handoff ]; do at=$((at + 1)); done
  __git_handoff_reply "\${words[cword]}" "\${words[cword - 1]}" "\${words[@]:at + 1:cword - at - 1}"
}
__git_handoff_main() {
  __git_handoff_reply "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}" "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"
}
complete -o bashdefault -o default -F __git_handoff_main git-handoff
`;
}

function wordsCase({ path, next, flags, named }: Words): string {
  const more = flags.length === 0 ? '' : ` flags="$flags ${flagNames(flags).join(' ')}"`;
  const names = named === null ? '' : ` named=${named}`;
  return `    ${quote(path)}) next=${quote(next.map(({ word }) => word).join(' '))}${names}${more} ;;`;
}

function choicesCases({ path, flags }: Words): string[] {
  const chosen = flags.filter(({ choices }) => choices.length > 0);
  return chosen.map(({ names, choices }) => {
    const patterns = names.map((name) => quote(`${path} ${name}`)).join('|');
    return `    ${patterns}) next=${quote(choices.join(' '))} ;;`;
  });
}
