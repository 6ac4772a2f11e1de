import {
  askNames,
  commandWords,
  type FlagWords,
  familyNames,
  GLOBAL_WORDS,
  namedFlags,
  quote,
  valuedFlags,
  type Words,
} from './words.ts';

/** git's own completion calls _git-handoff for `git handoff`, with words that begin at `handoff`. */
export function zsh(): string {
  // A variable called path would be the command search path.
  return `#compdef git-handoff
_git-handoff() {
  local verb='' word skip='' named=''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$skip" ]]; then skip=''; continue; fi
    case "$word" in
      ${valuedFlags()}) skip=1 ;;
      -*) ;;
      *) [[ -z "$verb" || "$verb" == (${familyNames()}) ]] && verb="\${verb:+$verb }$word" ;;
    esac
  done
  local -a next flags
  flags=(${flagPairs(GLOBAL_WORDS)})
  case "$verb" in
${commandWords().map(wordsCase).join('\n')}
  esac
  case "$verb \${words[CURRENT-1]}" in
${commandWords().flatMap(choicesCases).join('\n')}
  *) [[ -z "$skip" ]] || { next=(); named='' } ;;
  esac
  [[ -z "$skip" ]] || case "\${words[CURRENT-1]}" in
${namedFlags()
  .map(([kind, flags]) => `    ${flags}) named=${kind} ;;`)
  .join('\n')}
  esac
  [[ -z "$named" || "\${words[CURRENT]}" == -* ]] || next+=(\${(f)"$(${askNames('$named')})"})
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe flag flags
  elif (( $#next )); then _describe verb next
  else _files
  fi
}
if [[ "\${funcstack[1]}" == _git-handoff ]]; then _git-handoff "$@"; else compdef _git-handoff git-handoff; fi
`;
}

function wordsCase({ path, next, flags, named }: Words): string {
  const words = next.map(({ word, about }) => pair(word, about)).join(' ');
  const names = named === null ? '' : ` named=${named}`;
  return `    ${quote(path)}) next=(${words})${names} flags+=(${flagPairs(flags)}) ;;`;
}

function choicesCases({ path, flags }: Words): string[] {
  const chosen = flags.filter(({ choices }) => choices.length > 0);
  return chosen.map(({ names, choices }) => {
    return `    ${names.map((name) => quote(`${path} ${name}`)).join('|')}) next=(${choices.join(' ')}) ;;`;
  });
}

function flagPairs(flags: readonly FlagWords[]): string {
  return flags.flatMap(({ names, about }) => names.map((name) => pair(name, about))).join(' ');
}

function pair(word: string, about: string): string {
  return quote(about === '' ? word : `${word}:${about.replaceAll(':', '\\:')}`);
}
