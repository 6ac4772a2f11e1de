import { bash } from './completion/bash.ts';
import { fish } from './completion/fish.ts';
import { zsh } from './completion/zsh.ts';

/** Words of ours, and names that `git-handoff complete` lets out (names.ts): no other word of a repository gets into a shell's hands. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish'): string {
  return { bash, zsh, fish }[shell]();
}
